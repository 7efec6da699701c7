// Prints what AsyncAPI's own parser finds in a document, a line each.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
for (const d of diagnostics) {
  // The parser proposes its newest version to whoever keeps to another one.
  if (d.code !== "asyncapi-latest-version") console.log(d.code, d.path.join("."), d.message);
}
if (document) console.log("channels", document.channels().length, "operations", document.operations().length);
