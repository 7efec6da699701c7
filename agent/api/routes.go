package api

// routes is every operation there is. The descriptions of both versions say the
// same with all the details; tests compare.
func routes() []route {
	literal := literalRoutes()
	return append(literal, uniform(literal)...)
}

// literalRoutes are the platform's operations as it spells them, V1.0, which
// are also found under /v1.0, and those of the gateway itself.
func literalRoutes() []route {
	return []route{
		{"POST", "/api/v1/auth/otp/request", permitAll, requestOTP, "Request a one-time password"},
		{"POST", "/api/v1/auth/otp/verify", permitAll, verifyOTP, "Verify a one-time password"},
		{"POST", "/api/v1/auth/token", permitAny, createToken, "Create authorization token"},
		{"GET", "/api/v1/organizations", permitAny, listOrganizations, "List organizations"},
		{"POST", "/api/v1/organizations", permitSystem, createOrganization, "Create an organization"},
		{"GET", "/api/v1/organizations/{organization_id}/api-keys", permitAdmin, listOrgKeys, "List the API keys of an organization"},
		{"POST", "/api/v1/organizations/{organization_id}/api-keys", permitAdmin, createOrgKey, "Create an API key of an organization"},
		{"DELETE", "/api/v1/organizations/{organization_id}/api-keys/{key_id}", permitAdmin, revokeOrgKey, "Revoke an API key of an organization"},

		{"POST", "/devices/{meeting_space_id}/status", permitRoom, status, "Get device status"},
		{"GET", "/devices/events", permitEvents, events, "Get or follow device events of the building"},
		{"GET", "/devices/{meeting_space_id}/events", permitEvents, spaceEvents, "Subscribe to device events of a meeting space"},
		{"POST", "/devices/{meeting_space_id}/action", permitWrite, action, "Action on a device"},
		{"GET", "/devices/{meeting_space_id}/instruction", permitRead, instruction, "Get device instruction"},
		{"POST", "/devices/{meeting_space_id}/control", permitRead, control, "Get device control"},
		{"GET", "/devices/types", permitRead, types, "Fetch associated device types"},
		{"GET", "/devices/{meeting_space_id}/snapshot", permitRead, snapshot, "Get the last picture of a camera"},

		{"POST", "/devices", permitSystem, createDevice, "Create device"},
		{"PATCH", "/devices/{device_id}", permitAdmin, changeDevice, "Change a device"},
		{"DELETE", "/devices/{device_id}", permitSystem, removeDevice, "Remove a device"},
		{"POST", "/devices/{device_id}/sensors", permitSystem, createSensor, "Create device sensors"},
		{"DELETE", "/devices/{device_id}/sensors/{sub_device}", permitSystem, removeSensor, "Remove a sensor from a device"},
		{"POST", "/devices/{device_id}/enable", permitAdmin, enableDevice, "Enable a device"},
		{"POST", "/devices/{device_id}/disable", permitAdmin, disableDevice, "Disable a device"},

		{"PUT", "/meetingspace/{meeting_space_id}/unlock-codes", permitAdmin, setUnlockCode, "Create or update an admin unlock code"},
		{"GET", "/meetingspace/{meeting_space_id}/unlock-codes", permitAdmin, unlockCodes, "List admin unlock codes"},
		{"DELETE", "/meetingspace/{meeting_space_id}/unlock-codes/{code_id}", permitAdmin, deleteUnlockCode, "Delete an admin unlock code"},
		{"DELETE", "/meetingspace/{meeting_space_id}/unlock-codes/lockout", permitAdmin, liftLockout, "Lift the lock-out of a keypad"},

		{"POST", "/meetingspace/{meeting_space_id}/claim-code", permitAdmin, newClaim, "Make a claim code for an edge device"},
		{"POST", "/edge/register", permitAll, registerEdge, "Register a meeting space ID and retrieve network details"},
		{"POST", "/edge/heartbeat", permitRoomWrite, edgeHeartbeat, "Heartbeat"},
		{"GET", "/edge/sensors", permitRoom, edgeSensors, "Retrieve all active sensors and device permissions"},
		{"POST", "/edge/control", permitRoomWrite, edgeControl, "Control a device"},
		{"POST", "/edge/enable", permitAdmin, edgeEnable, "Enable or disable a device"},
		{"GET", "/gateway/edge", permitSystem, listEdges, "List edge devices"},
		{"DELETE", "/gateway/edge/{edge_id}", permitSystem, deleteEdge, "Delete an edge device"},
		{"POST", "/meetingspace/{meeting_space_id}/screenshot", permitRoomWrite, screenshot, "Upload a meeting space screenshot"},
		{"GET", "/meetingspace/{meeting_space_id}/screenshot", permitRead, lastScreenshot, "Get the last meeting space screenshot"},

		{"GET", "/meetingspace/get_meeting_space", permitSpaces, meetingSpaces, "Get meeting spaces by customer"},
		{"GET", "/meetingspace/{meeting_space_id}/state", permitRoomSpaces, spaceState, "Get meeting space state by ID"},
		{"POST", "/meetingspace/{meeting_space_id}/state", permitSpacesWrite, scheduleState, "Schedule meeting space state"},
		{"GET", "/meetingspace/state/device/{device_id}", permitSpaces, stateOfDevice, "Get meeting space state by device ID"},
		{"GET", "/meetingspace/{meeting_space_id}/state/disable", permitSpacesWrite, disableState, "Disable meeting space state"},
		{"GET", "/meetingspace/{meeting_space_id}/state/send", permitSpacesWrite, sendState, "Send meeting space state by meeting space ID"},
		{"POST", "/meetingspace/{meeting_space_id}/availability", permitSpacesWrite, storeAvailability, "Store meeting space availability"},

		{"POST", "/meetingspace/{meeting_space_id}/calendar", permitSpacesWrite, linkCalendar, "Create external calendar"},
		{"GET", "/meetingspace/{meeting_space_id}/calendar", permitSpaces, calendarLink, "Get the external calendar"},
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
		{"GET", "/api/v1/webhooks/{webhook_id}/deliveries", permitWebhooks, listDeliveries, "List webhook deliveries"},
		{"POST", "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", permitWebhooksWrite, redeliver, "Deliver again"},

		{"GET", "/rules", permitRules, listRules, "List rules"},
		{"POST", "/rules", permitRulesWrite, createRule, "Create a new event with conditions and actions"},
		{"GET", "/rules/{rule_id}", permitRules, getRule, "Get a rule"},
		{"PATCH", "/rules/{rule_id}", permitRulesWrite, updateRule, "Update a rule"},
		{"DELETE", "/rules/{rule_id}", permitRulesWrite, deleteRule, "Delete a rule"},
		{"POST", "/rules/{rule_id}/test", permitRules, testRule, "Explain what a rule would do, without acting"},
		{"GET", "/rules/{rule_id}/log", permitRules, ruleLog, "List the last runs of a rule"},

		{"GET", "/messages", permitMessages, listMessages, "List messages"},
		{"POST", "/messages", permitMessagesWrite, sendMessage, "Send message to a mobile device"},
		{"GET", "/messages/{message_id}", permitMessages, getMessage, "Get a message"},

		{"GET", "/gateway", permitSystem, gateway, "Get gateway status"},
		{"GET", "/gateway/devices", permitSystem, gatewayDevices, "List devices with their readings"},
		{"GET", "/gateway/spaces", permitSystem, gatewaySpaces, "List meeting spaces with their devices"},
		{"GET", "/gateway/keys", permitSystem, listKeys, "List API keys"},
		{"POST", "/gateway/keys", permitSystem, createKey, "Create an API key"},
		{"DELETE", "/gateway/keys/{key_id}", permitSystem, revokeKey, "Revoke an API key"},

		{"GET", "/claim", permitAll, gatewayClaim, "Get the gateway's claim, or its claim code"},
		{"DELETE", "/claim", permitSystem, releaseClaim, "End the claim of the gateway"},

		{"GET", "/healthz", permitAll, healthz, "Check that the process works"},
		{"GET", "/readyz", permitAll, readyz, "Check that the gateway is ready"},
		{"GET", "/metrics", permitSystem, metrics, "Figures for Prometheus"},
		{"GET", "/openapi.yaml", permitAll, openapiFile, "This description"},
		{"GET", "/asyncapi.yaml", permitAll, asyncapiFile, "The messages between gateway and cloud"},
		{"GET", "/openapi", permitAll, openapiPage, "This description, to be read"},
	}
}

// twins are the operations of V2.0, below /v2.0. Each does what that of V1.0
// does, and needs the same permission. Without a handler it has the same one,
// and without a summary the same. Where one takes the place of two, both are
// named.
func twins() []twin {
	return []twin{
		{"POST", "/auth/otp/request", "POST /api/v1/auth/otp/request", nil, ""},
		{"POST", "/auth/otp/verify", "POST /api/v1/auth/otp/verify", nil, ""},
		{"POST", "/auth/token", "POST /api/v1/auth/token", nil, ""},
		{"GET", "/organizations", "GET /api/v1/organizations", nil, ""},
		{"POST", "/organizations", "POST /api/v1/organizations", nil, ""},
		{"GET", "/organizations/{organization_id}/api-keys", "GET /api/v1/organizations/{organization_id}/api-keys", nil, ""},
		{"POST", "/organizations/{organization_id}/api-keys", "POST /api/v1/organizations/{organization_id}/api-keys", nil, ""},
		{"DELETE", "/organizations/{organization_id}/api-keys/{key_id}", "DELETE /api/v1/organizations/{organization_id}/api-keys/{key_id}", nil, ""},

		{"GET", "/devices", "POST /devices/{meeting_space_id}/status", listDevices, "List devices with their status"},
		{"GET", "/devices/types", "GET /devices/types", nil, ""},
		{"GET", "/devices/{device_id}", "POST /devices/{meeting_space_id}/status", getDevice, "Get a device with its status"},
		{"GET", "/meeting-spaces/{meeting_space_id}/devices", "POST /devices/{meeting_space_id}/status", spaceDevices, "List the devices of a meeting space with their status"},
		{"GET", "/meeting-spaces/{meeting_space_id}/devices/{device_type}/status", "POST /devices/{meeting_space_id}/status", deviceStatus, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/devices/{device_type}/action", "POST /devices/{meeting_space_id}/action", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/devices/{device_type}/instruction", "GET /devices/{meeting_space_id}/instruction", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/devices/{device_type}/control", "POST /devices/{meeting_space_id}/control", nil, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/devices/{device_type}/control", "POST /edge/control", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/devices/{device_type}/snapshot", "GET /devices/{meeting_space_id}/snapshot", nil, ""},
		{"POST", "/devices", "POST /devices", nil, ""},
		{"PATCH", "/devices/{device_id}", "PATCH /devices/{device_id}", nil, ""},
		{"DELETE", "/devices/{device_id}", "DELETE /devices/{device_id}", nil, ""},
		{"POST", "/devices/{device_id}/sensors", "POST /devices/{device_id}/sensors", nil, ""},
		{"DELETE", "/devices/{device_id}/sensors/{sub_device}", "DELETE /devices/{device_id}/sensors/{sub_device}", nil, ""},
		{"POST", "/devices/{device_id}/enable", "POST /devices/{device_id}/enable, POST /edge/enable", nil, ""},
		{"POST", "/devices/{device_id}/disable", "POST /devices/{device_id}/disable, POST /edge/enable", nil, ""},

		{"GET", "/events", "GET /devices/events", nil, "Get or follow events of the building"},
		{"GET", "/meeting-spaces/{meeting_space_id}/events", "GET /devices/{meeting_space_id}/events", nil, "Get or follow events of a meeting space"},

		{"POST", "/edge-devices/register", "POST /edge/register", nil, ""},
		{"POST", "/edge-devices/heartbeat", "POST /edge/heartbeat", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/sensors", "GET /edge/sensors", nil, ""},
		{"GET", "/edge-devices", "GET /gateway/edge", nil, ""},
		{"DELETE", "/edge-devices/{edge_id}", "DELETE /gateway/edge/{edge_id}", nil, ""},

		{"GET", "/meeting-spaces", "GET /meetingspace/get_meeting_space", nil, "List meeting spaces"},
		{"GET", "/meeting-spaces/{meeting_space_id}", "GET /meetingspace/get_meeting_space", getSpace, "Get a meeting space"},
		{"GET", "/meeting-spaces/{meeting_space_id}/state", "GET /meetingspace/{meeting_space_id}/state", nil, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/state", "POST /meetingspace/{meeting_space_id}/state", nil, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/state/disable", "GET /meetingspace/{meeting_space_id}/state/disable", nil, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/state/send", "GET /meetingspace/{meeting_space_id}/state/send", nil, ""},
		{"GET", "/devices/{device_id}/meeting-space/state", "GET /meetingspace/state/device/{device_id}", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/availability", "GET /meetingspace/{meeting_space_id}/state", getAvailability, "Get meeting space availability"},
		{"PATCH", "/meeting-spaces/{meeting_space_id}/availability", "POST /meetingspace/{meeting_space_id}/availability", nil, ""},
		{"PUT", "/meeting-spaces/{meeting_space_id}/calendar", "POST /meetingspace/{meeting_space_id}/calendar", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/calendar", "GET /meetingspace/{meeting_space_id}/calendar", nil, ""},
		{"DELETE", "/meeting-spaces/{meeting_space_id}/calendar", "DELETE /meetingspace/{meeting_space_id}/calendar", nil, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/calendar/feed", "POST /meetingspace/{meeting_space_id}/calendar/feed", nil, ""},
		{"DELETE", "/meeting-spaces/{meeting_space_id}/calendar/feed", "DELETE /meetingspace/{meeting_space_id}/calendar/feed", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/calendar.ics", "GET /meetingspace/{meeting_space_id}/calendar.ics", nil, ""},
		{"PUT", "/meeting-spaces/{meeting_space_id}/unlock-codes", "PUT /meetingspace/{meeting_space_id}/unlock-codes", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/unlock-codes", "GET /meetingspace/{meeting_space_id}/unlock-codes", nil, ""},
		{"DELETE", "/meeting-spaces/{meeting_space_id}/unlock-codes/{code_id}", "DELETE /meetingspace/{meeting_space_id}/unlock-codes/{code_id}", nil, ""},
		{"DELETE", "/meeting-spaces/{meeting_space_id}/unlock-codes/lockout", "DELETE /meetingspace/{meeting_space_id}/unlock-codes/lockout", nil, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/claim-code", "POST /meetingspace/{meeting_space_id}/claim-code", nil, ""},
		{"POST", "/meeting-spaces/{meeting_space_id}/screenshot", "POST /meetingspace/{meeting_space_id}/screenshot", nil, ""},
		{"GET", "/meeting-spaces/{meeting_space_id}/screenshot", "GET /meetingspace/{meeting_space_id}/screenshot", nil, ""},

		{"GET", "/bookings", "GET /bookings", nil, ""},
		{"POST", "/bookings", "POST /bookings", nil, ""},
		{"POST", "/bookings/bulk", "POST /bookings/bulk", nil, ""},
		{"GET", "/bookings/{booking_id}", "GET /bookings/{booking_id}", nil, ""},
		{"PATCH", "/bookings/{booking_id}", "PATCH /bookings/{booking_id}", nil, ""},
		{"DELETE", "/bookings/{booking_id}", "DELETE /bookings/{booking_id}", nil, ""},
		{"POST", "/bookings/{booking_id}/check-in", "POST /bookings/{booking_id}/check-in", nil, ""},
		{"POST", "/bookings/{booking_id}/extend", "POST /bookings/{booking_id}/extend", nil, ""},
		{"POST", "/bookings/{booking_id}/end", "POST /bookings/{booking_id}/end", nil, ""},
		{"POST", "/bookings/{booking_id}/state/send", "GET /bookings/{booking_id}/state/send", nil, ""},

		{"GET", "/webhooks", "GET /api/v1/webhooks", nil, ""},
		{"POST", "/webhooks", "POST /api/v1/webhooks", nil, ""},
		{"GET", "/webhooks/{webhook_id}", "GET /api/v1/webhooks/{webhook_id}", nil, ""},
		{"PATCH", "/webhooks/{webhook_id}", "PATCH /api/v1/webhooks/{webhook_id}", nil, ""},
		{"DELETE", "/webhooks/{webhook_id}", "DELETE /api/v1/webhooks/{webhook_id}", nil, ""},
		{"POST", "/webhooks/{webhook_id}/test", "POST /api/v1/webhooks/{webhook_id}/test", nil, ""},
		{"POST", "/webhooks/{webhook_id}/rotate-secret", "POST /api/v1/webhooks/{webhook_id}/rotate-secret", nil, ""},
		{"GET", "/webhooks/{webhook_id}/deliveries", "GET /api/v1/webhooks/{webhook_id}/deliveries", nil, ""},
		{"POST", "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", "POST /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", nil, ""},

		{"GET", "/rules", "GET /rules", nil, ""},
		{"POST", "/rules", "POST /rules", nil, ""},
		{"GET", "/rules/{rule_id}", "GET /rules/{rule_id}", nil, ""},
		{"PATCH", "/rules/{rule_id}", "PATCH /rules/{rule_id}", nil, ""},
		{"DELETE", "/rules/{rule_id}", "DELETE /rules/{rule_id}", nil, ""},
		{"POST", "/rules/{rule_id}/test", "POST /rules/{rule_id}/test", nil, ""},
		{"GET", "/rules/{rule_id}/log", "GET /rules/{rule_id}/log", nil, ""},

		{"GET", "/messages", "GET /messages", nil, ""},
		{"POST", "/messages", "POST /messages", nil, ""},
		{"GET", "/messages/{message_id}", "GET /messages/{message_id}", nil, ""},

		{"GET", "/gateway", "GET /gateway", nil, ""},
		{"GET", "/gateway/keys", "GET /gateway/keys", nil, ""},
		{"POST", "/gateway/keys", "POST /gateway/keys", nil, ""},
		{"DELETE", "/gateway/keys/{key_id}", "DELETE /gateway/keys/{key_id}", nil, ""},

		{"GET", "/openapi.yaml", "GET /openapi.yaml", nil, ""},
		{"GET", "/openapi", "GET /openapi", nil, ""},
	}
}
