// Package engine holds the contract between gateways and backends against the brokers
// that a fleet may live on: one suite for all of them. It is a module of its own, so that
// no gateway carries a broker's server.
package engine
