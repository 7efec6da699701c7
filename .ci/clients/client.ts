// A client of both versions, typed by what openapi-typescript makes of their
// descriptions: node client.js URL KEY. It prints what it was told, a line each.
import createClient from "openapi-fetch";
import type { components, paths as Literal } from "./v1.js";
import type { paths as Uniform } from "./v2.js";

const [baseUrl, key] = process.argv.slice(2);
const options = { baseUrl, headers: { "X-API-Key": key } };
const v1 = createClient<Literal>(options);
const v2 = createClient<Uniform>(options);

// told is the answer, or ends the program with the problem.
function told<T>(answer: { data?: T; error?: { code: string; detail?: string } | unknown }): NonNullable<T> {
  if (answer.error !== undefined || answer.data === undefined || answer.data === null) {
    throw new Error(JSON.stringify(answer.error));
  }
  return answer.data;
}

const spaces: components["schemas"]["MeetingRoomData"][] = told(await v1.GET("/meetingspace/get_meeting_space"));
const aurora: string = spaces[0].id;
console.log("space", spaces[0].name, spaces[0].capacity.toFixed());

const path = { meeting_space_id: aurora };
const status = told(await v1.POST("/devices/{meeting_space_id}/status", { params: { path }, body: { device_type: "light" } }));
console.log("status", "device" in status.response ? status.response.device : "none");

const shown = told(await v1.GET("/devices/{meeting_space_id}/instruction", { params: { path, query: { device_type: "light" } } }));
const bounds = shown.response.actions.find((a) => a.name === "intensity")?.params?.[0];
console.log("intensity", bounds?.min?.toFixed(), bounds?.max?.toFixed());

const device = { ...path, device_type: "light" as const };
const done = told(
  await v2.POST("/v2.0/meeting-spaces/{meeting_space_id}/devices/{device_type}/action", {
    params: { path: device },
    body: { action: "intensity", value: 40 },
  }),
);
console.log("action", done.state);

const reading = told(await v2.GET("/v2.0/meeting-spaces/{meeting_space_id}/devices/{device_type}/status", { params: { path: device } }));
const details: { [name: string]: unknown } | undefined = reading.details;
console.log("reading", reading.value, reading.intensity?.value, reading.intensity?.unit, typeof details);

const start_time = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 86_400_000).toISOString();
const bulk = told(
  await v2.POST("/v2.0/bookings/bulk", {
    body: { operations: [{ operation: "create", meeting_space_id: aurora, start_time, minutes: 30, title: "Generated" }] },
  }),
);
console.log("bulk", bulk.results[0].status, bulk.results[0].booking?.title);

const page = told(await v2.GET("/v2.0/bookings", { params: { query: { limit: 5 } } }));
console.log("bookings", page.items.length, page.next_cursor);

const refused = await v2.GET("/v2.0/bookings/{booking_id}", { params: { path: { booking_id: "nobody" } } });
console.log("refused", refused.response.status, refused.error?.code);

const picture = new Blob([Uint8Array.from(atob(process.argv[4]), (c) => c.charCodeAt(0))], { type: "image/png" });
const sent = await v1.POST("/meetingspace/{meeting_space_id}/screenshot", {
  params: { path },
  body: picture as unknown as string,
  bodySerializer: (body) => body as unknown as Blob,
  headers: { "Content-Type": "image/png" },
});
console.log("picture", sent.response.status);
