// Writes src/wire/graph_pb.js (readers and writers) and graph_pb.d.ts (their types) from ../proto/graph.proto.
// Pure JavaScript, no binary and no network: it runs wherever npm runs. The output is a build product and is not committed.
import { mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileRaw } from 'pbf/compile';
import resolveProtobufSchema from 'resolve-protobuf-schema';

const here = dirname(fileURLToPath(import.meta.url));
const proto = resolve(here, '../../proto/graph.proto');
const output = resolve(here, '../src/wire');
const schema = resolveProtobufSchema.sync(proto);

const numbers = new Set(['double', 'float', 'int32', 'uint32', 'sint32', 'int64', 'uint64', 'sint64', 'fixed32', 'fixed64', 'sfixed32', 'sfixed64']);
const enums = new Set(schema.enums.map((item) => item.name));

function typeOf(name) {
  if (numbers.has(name) || enums.has(name)) return 'number';
  if (name === 'string') return 'string';
  if (name === 'bool') return 'boolean';
  if (name === 'bytes') return 'Uint8Array';
  return name;
}

function fieldType(field) {
  if (field.map) return `Record<string, ${typeOf(field.map.to)}>`;
  const type = typeOf(field.type);
  if (field.repeated) return `${type}[]`;
  const message = !numbers.has(field.type) && !enums.has(field.type) && !['string', 'bool', 'bytes'].includes(field.type);
  // A bytes field that is absent decodes to undefined; an absent message as well.
  return message || field.type === 'bytes' ? `${type} | undefined` : type;
}

const lines = ['// Generated from proto/graph.proto by scripts/generate.mjs. Do not edit.', "import type { PbfReader, PbfWriter } from 'pbf';", ''];
for (const item of schema.enums) {
  const values = Object.entries(item.values).map(([name, { value }]) => `readonly ${name}: ${value}`);
  lines.push(`export declare const ${item.name}: { ${values.join('; ')} };`);
}
for (const message of schema.messages) {
  lines.push('', `export interface ${message.name} {`);
  for (const field of message.fields) lines.push(`  ${field.name}: ${fieldType(field)};`);
  lines.push('}');
  lines.push(`export declare function read${message.name}(reader: PbfReader, end?: number): ${message.name};`);
  lines.push(`export declare function write${message.name}(message: Partial<${message.name}>, writer: PbfWriter): void;`);
}

function writeIfChanged(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  writeFileSync(path, text);
}

mkdirSync(output, { recursive: true });
writeIfChanged(resolve(output, 'graph_pb.js'), compileRaw(schema));
writeIfChanged(resolve(output, 'graph_pb.d.ts'), `${lines.join('\n')}\n`);
