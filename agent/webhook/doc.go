// Package webhook tells others by HTTP what happens in a building. A [Dispatcher]
// keeps the webhooks, makes their deliveries of the event log, sends them until they
// are taken or given up, and remembers how that went. The pure half is beside it:
// who wants what, the notification and its signatures, where it may be sent, how
// an answer is judged, and when it is sent again.
//
// # Signatures
//
// Each notification is signed twice over:
//
//   - X-Webhook-Signature is the platform's: the HMAC-SHA256 of the body as 64
//     hexadecimal digits, keyed with the secret exactly as it is written.
//   - webhook-id, webhook-timestamp and webhook-signature are those of Standard
//     Webhooks 1.0 (standardwebhooks.com): "v1," and the base64 HMAC-SHA256 of
//     id.timestamp.body. A secret that begins with "whsec_" is keyed as the
//     bytes that the rest decodes to, any other as it is written.
//
// While a secret rotates, webhook-signature holds two signatures, the new
// secret's first. X-Webhook-Signature has no room for a second one: receivers
// compare it whole. It is the new secret's from the moment of the rotation, and
// the old secret's stands beside it in X-Webhook-Signature-Previous until that
// secret ends. A receiver that must not miss a beat chooses the new secret
// itself, accepts both, and then has it rotated in.
//
// # Delivery
//
// A notification comes at least once: the same webhook-id again is the same
// notification. Those of one webhook are first sent in the order in which
// things happened; one that has to be sent again does not hold up the others.
package webhook
