package api

import (
	"cmp"
	_ "embed" // fills the variable below
	"path"
	"regexp"
	"slices"
	"strings"
)

// openapi2.yaml has what V2.0 says otherwise than V1.0. The rest is made from
// V1.0's description and the table of twins:
//
//   - An operation is that of V1.0 with what the file has for it laid over it;
//     null takes away what V1.0 has.
//   - A schema with `from` is that schema of V1.0 with the rest laid over it.
//   - A schema with `page_of` is a page of a list of those.
//   - A schema that is referred to and is not in the file is V1.0's.
//
//go:embed openapi2.yaml
var openapi2Differs string

// renamed are the schemas of V2.0 that take the place of V1.0's, in operations and in
// schemas that are made from those of V1.0.
var renamed = map[string]string{
	"Availability": "TypedAvailability", "AvailabilityResponse": "TypedAvailability",
	"BookingList": "BookingPage", "CalendarResponse": "Calendar", "ClaimResponse": "Claim",
	"ControlResponse": "Control", "DeliveryResponse": "TimedDelivery", "DeviceChange": "TypedDeviceChange",
	"DeviceCreate": "TypedDeviceCreate", "DeviceResponse": "Device", "DeviceSensorList": "SensorPage",
	"EdgeDeviceList": "EdgeDevicePage", "EdgeOrder": "SwitchOrder", "EdgeRegistered": "TypedEdgeRegistered",
	"Evidence": "TypedEvidence", "Health": "TimedHealth", "Hold": "TimedHold",
	"HoldRequest": "TimedHoldRequest", "HoldResponse": "TimedHold", "InstructionResponse": "Instruction",
	"KeyList": "KeyPage", "Message": "TimedMessage", "MessageChannel": "TimedMessageChannel",
	"MessageRequest": "TimedMessageRequest", "NewKey": "ApiKey", "NewOrgKey": "ApiKey",
	"OTPRequested": "CodeSent", "Order": "DeviceOrder", "OrgKeyList": "KeyPage",
	"OrganizationList": "OrganizationPage", "OrganizationResponse": "Organization",
	"Receipt": "TypedReceipt", "Rule": "TimedRule", "SignedIn": "Session", "StatusResponse": "DevicePage",
	"TokenRequest": "TimedTokenRequest", "TokenResponse": "Token", "TypesResponse": "DeviceTypePage",
	"UnlockCodeList": "UnlockCodePage", "UnlockCodeResponse": "UnlockCode",
	"UserList": "UserPage", "UserResponse": "SignInUser", "WebhookResponse": "TimedWebhook",
}

// openapi2YAML makes the description of V2.0.
func openapi2YAML() string {
	literal, differs := blocks(openapiHead+openapiSchemas), blocks(openapi2Differs)
	known := blocks(below(literal, "components", "schemas"))
	own := blocks(below(differs, "components", "schemas"))
	for i := range own {
		own[i] = derive(own[i], known)
	}
	put(literal, blocksText(twinPaths(blocks(below(literal, "paths")))), "paths")
	put(literal, "", "components", "schemas")
	put(differs, blocksText(own), "components", "schemas")
	text := overlaid(blocksText(literal), blocksText(differs))
	return text + indented(indented(blocksText(adopted(text, known, own))))
}

// twinPaths are the paths of V2.0, with the operations of V1.0.
func twinPaths(literal []block) (paths []block) {
	for i, r := range uniform(literalRoutes()) {
		first, _, _ := strings.Cut(twins()[i].of, ", ")
		method, at, _ := strings.Cut(first, " ")
		operation := below(literal, at, strings.ToLower(method))
		operation = overlaid(renamedIn(operation), "summary: "+r.summary+"\n")
		n := slices.IndexFunc(paths, func(b block) bool { return b.key == r.path })
		if n < 0 {
			n = len(paths)
			paths = append(paths, block{r.path, r.path + ":", ""})
		}
		paths[n].text += blocksText([]block{{"", strings.ToLower(r.method) + ":", operation}})
	}
	return paths
}

// derive writes a schema out that is made of another one.
func derive(own block, known []block) block {
	if found := pageOf.FindStringSubmatch(own.head); found != nil {
		return block{own.key, own.key + ":", strings.ReplaceAll(pageSchema, "ITEM", found[1])}
	}
	parts := blocks(own.text)
	if len(parts) == 0 || parts[0].key != "from" {
		return own
	}
	_, from, _ := strings.Cut(parts[0].head, " ")
	own.text = overlaid(renamedIn(below(known, from)), blocksText(parts[1:]))
	return own
}

var pageOf = regexp.MustCompile(`^\w+: \{page_of: (\w+)\}$`)

const pageSchema = `type: object
required: [items, next_cursor]
additionalProperties: false
properties:
  items: {type: array, items: {$ref: "#/components/schemas/ITEM"}}
  next_cursor: {$ref: "#/components/schemas/NextCursor"}
`

// adopted are the known schemas that a text refers to, and those that they refer
// to, without those that it has itself.
func adopted(text string, known, own []block) (out []block) {
	wanted := map[string]bool{}
	want := func(text string) {
		for _, found := range reference.FindAllStringSubmatch(text, -1) {
			wanted[found[2]] = wanted[found[2]] || found[1] == "schemas" && entry(own, found[2]) < 0
		}
	}
	want(text)
	for before := -1; before != len(wanted); { // until nothing more is referred to
		before = len(wanted)
		for _, s := range known {
			if wanted[s.key] {
				want(s.head + s.text)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(known), func(s block) bool { return !wanted[s.key] })
}

// renamedIn gives what a text refers to the names of V2.0.
func renamedIn(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		kind, name := path.Split(ref)
		if kind != "#/components/schemas/" {
			return ref
		}
		return kind + cmp.Or(renamed[name], name)
	})
}
