package api

// routes is every operation there is. The platform's are also found under
// /v1.0. openapi.yaml says the same with all the details; a test compares.
func routes() []route {
	return []route{
		{"POST", "/api/v1/auth/otp/request", permitAll, requestOTP, "Request a one-time password"},
		{"POST", "/api/v1/auth/otp/verify", permitAll, verifyOTP, "Verify a one-time password"},
		{"POST", "/api/v1/auth/token", permitAny, createToken, "Create authorization token"},
		{"GET", "/api/v1/organizations", permitAny, listOrganizations, "List organizations"},
		{"POST", "/api/v1/organizations", permitSystem, createOrganization, "Create an organization"},
		{"GET", "/api/v1/organizations/{organization_id}/api-keys", permitAdmin, listOrgKeys, "List the API keys of an organization"},
		{"POST", "/api/v1/organizations/{organization_id}/api-keys", permitAdmin, createOrgKey, "Create an API key of an organization"},
		{"DELETE", "/api/v1/organizations/{organization_id}/api-keys/{key_id}", permitAdmin, revokeOrgKey, "Revoke an API key of an organization"},

		{"POST", "/devices/{meeting_space_id}/status", permitRead, status, "Get device status"},
		{"GET", "/devices/events", permitEvents, events, "Get or follow device events of the building"},
		{"GET", "/devices/{meeting_space_id}/events", permitEvents, spaceEvents, "Subscribe to device events of a meeting space"},
		{"POST", "/devices/{meeting_space_id}/action", permitWrite, action, "Action on a device"},
		{"GET", "/devices/{meeting_space_id}/instruction", permitRead, instruction, "Get device instruction"},
		{"POST", "/devices/{meeting_space_id}/control", permitRead, control, "Get device control"},
		{"GET", "/devices/types", permitRead, types, "Fetch associated device types"},
		{"GET", "/devices/{meeting_space_id}/snapshot", permitRead, snapshot, "Get the last picture of a camera"},

		{"PATCH", "/devices/{device_id}", permitAdmin, changeDevice, "Change a device"},
		{"POST", "/devices/{device_id}/enable", permitAdmin, enableDevice, "Enable a device"},
		{"POST", "/devices/{device_id}/disable", permitAdmin, disableDevice, "Disable a device"},

		{"PUT", "/meetingspace/{meeting_space_id}/unlock-codes", permitAdmin, setUnlockCode, "Create or update an admin unlock code"},
		{"GET", "/meetingspace/{meeting_space_id}/unlock-codes", permitAdmin, unlockCodes, "List admin unlock codes"},
		{"DELETE", "/meetingspace/{meeting_space_id}/unlock-codes/{code_id}", permitAdmin, deleteUnlockCode, "Delete an admin unlock code"},

		{"POST", "/meetingspace/{meeting_space_id}/claim-code", permitAdmin, newClaim, "Make a claim code for an edge device"},
		{"POST", "/edge/register", permitAll, registerEdge, "Register a meeting space ID and retrieve network details"},
		{"POST", "/edge/heartbeat", permitWrite, edgeHeartbeat, "Heartbeat"},
		{"GET", "/edge/sensors", permitRead, edgeSensors, "Retrieve all active sensors and device permissions"},
		{"POST", "/edge/control", permitWrite, edgeControl, "Control a device"},
		{"POST", "/edge/enable", permitAdmin, edgeEnable, "Enable or disable a device"},
		{"GET", "/gateway/edge", permitSystem, listEdges, "List edge devices"},
		{"DELETE", "/gateway/edge/{edge_id}", permitSystem, deleteEdge, "Delete an edge device"},
		{"POST", "/meetingspace/{meeting_space_id}/screenshot", permitWrite, screenshot, "Upload a meeting space screenshot"},
		{"GET", "/meetingspace/{meeting_space_id}/screenshot", permitRead, lastScreenshot, "Get the last meeting space screenshot"},

		{"GET", "/meetingspace/get_meeting_space", permitSpaces, meetingSpaces, "Get meeting spaces by customer"},
		{"GET", "/meetingspace/{meeting_space_id}/state", permitSpaces, spaceState, "Get meeting space state by ID"},
		{"POST", "/meetingspace/{meeting_space_id}/state", permitSpacesWrite, scheduleState, "Schedule meeting space state"},
		{"GET", "/meetingspace/state/device/{device_id}", permitSpaces, stateOfDevice, "Get meeting space state by device ID"},
		{"GET", "/meetingspace/{meeting_space_id}/state/disable", permitSpacesWrite, disableState, "Disable meeting space state"},
		{"GET", "/meetingspace/{meeting_space_id}/state/send", permitSpacesWrite, sendState, "Send meeting space state by meeting space ID"},
		{"POST", "/meetingspace/{meeting_space_id}/availability", permitSpacesWrite, storeAvailability, "Store meeting space availability"},

		{"POST", "/meetingspace/{meeting_space_id}/calendar", permitSpacesWrite, linkCalendar, "Create external calendar"},
		{"GET", "/meetingspace/{meeting_space_id}/calendar", permitSpaces, calendarLink, "How the external calendar is"},
		{"DELETE", "/meetingspace/{meeting_space_id}/calendar", permitSpacesWrite, unlinkCalendar, "End the link to an external calendar"},
		{"POST", "/meetingspace/{meeting_space_id}/calendar/feed", permitSpacesWrite, newFeed, "Make a calendar feed of a meeting space"},
		{"DELETE", "/meetingspace/{meeting_space_id}/calendar/feed", permitSpacesWrite, revokeFeed, "Revoke the calendar feed"},
		{"GET", "/meetingspace/{meeting_space_id}/calendar.ics", permitAll, calendarFeed, "The calendar feed of a meeting space"},

		{"GET", "/bookings", permitBookings, listBookings, "List bookings"},
		{"POST", "/bookings", permitBookingsWrite, createBooking, "Create or update booking"},
		{"POST", "/bookings/bulk", permitBookingsWrite, bulkBookings, "Bulk booking operation"},
		{"GET", "/bookings/{booking_id}", permitBookings, getBooking, "Get a booking"},
		{"PATCH", "/bookings/{booking_id}", permitBookingsWrite, updateBooking, "Update a booking"},
		{"DELETE", "/bookings/{booking_id}", permitBookingsWrite, cancelBooking, "Cancel a booking"},
		{"POST", "/bookings/{booking_id}/check-in", permitBookingsWrite, checkIn, "Check-in operation"},
		{"POST", "/bookings/{booking_id}/extend", permitBookingsWrite, extendBooking, "Extend a meeting that is under way"},
		{"POST", "/bookings/{booking_id}/end", permitBookingsWrite, endBooking, "End a meeting early"},
		{"GET", "/bookings/{booking_id}/state/send", permitSpacesWrite, sendBookingState, "Send meeting space state by booking ID"},

		{"POST", "/api/v1/webhooks", permitWebhooksWrite, createWebhook, "Register a webhook"},
		{"GET", "/api/v1/webhooks", permitWebhooks, listWebhooks, "List webhooks"},
		{"GET", "/api/v1/webhooks/{webhook_id}", permitWebhooks, getWebhook, "Get a webhook"},
		{"PATCH", "/api/v1/webhooks/{webhook_id}", permitWebhooksWrite, changeWebhook, "Change a webhook, or make it active again"},
		{"DELETE", "/api/v1/webhooks/{webhook_id}", permitWebhooksWrite, deleteWebhook, "Delete a webhook"},
		{"POST", "/api/v1/webhooks/{webhook_id}/test", permitWebhooksWrite, testWebhook, "Deliver a test now"},
		{"POST", "/api/v1/webhooks/{webhook_id}/rotate-secret", permitWebhooksWrite, rotateSecret, "Give a webhook another secret"},
		{"GET", "/api/v1/webhooks/{webhook_id}/deliveries", permitWebhooks, listDeliveries, "What a webhook was told"},
		{"POST", "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", permitWebhooksWrite, redeliver, "Deliver again"},

		{"GET", "/gateway", permitSystem, gateway, "How the gateway is"},
		{"GET", "/gateway/devices", permitSystem, gatewayDevices, "List devices with their readings"},
		{"GET", "/gateway/spaces", permitSystem, gatewaySpaces, "List meeting spaces with their devices"},
		{"GET", "/gateway/keys", permitSystem, listKeys, "List API keys"},
		{"POST", "/gateway/keys", permitSystem, createKey, "Create an API key"},
		{"DELETE", "/gateway/keys/{key_id}", permitSystem, revokeKey, "Revoke an API key"},

		{"GET", "/healthz", permitAll, healthz, "Whether the process works"},
		{"GET", "/readyz", permitAll, readyz, "Whether the gateway is ready"},
		{"GET", "/metrics", permitSystem, metrics, "Figures for Prometheus"},
		{"GET", "/openapi.yaml", permitAll, openapiFile, "This description"},
		{"GET", "/asyncapi.yaml", permitAll, asyncapiFile, "The messages between gateway and cloud"},
		{"GET", "/openapi", permitAll, openapiPage, "This description, to be read"},
	}
}
