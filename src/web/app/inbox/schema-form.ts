import { isRecord, type Json, type JsonRecord } from '../lib/json.ts';

/** A field of a tool's input that a plain control can edit. */
export interface FormField {
  readonly name: string;
  readonly kind: 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'texts';
  readonly required: boolean;
  readonly description: string;
  readonly choices: readonly string[];
}

const LONG_NAMES = /text|content|body|message|memo|description|reason/;

/** The fields of a form for this schema; undefined when something in it needs the JSON editor. */
export function formFields(schema: JsonRecord, args: JsonRecord): readonly FormField[] | undefined {
  if (!isRecord(schema.properties)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: FormField[] = [];
  for (const [name, property] of Object.entries(schema.properties)) {
    const kind = isRecord(property) ? kindOf(name, property, args[name]) : undefined;
    if (!isRecord(property) || !kind) {
      // What is not given need not be editable.
      if (args[name] === undefined) continue;
      return undefined;
    }
    fields.push({
      name,
      kind,
      required: required.includes(name),
      description: typeof property.description === 'string' ? property.description : '',
      choices: Array.isArray(property.enum) ? property.enum.map(String) : [],
    });
  }
  return Object.keys(args).every((name) => fields.some((field) => field.name === name)) ? fields : undefined;
}

function kindOf(name: string, property: JsonRecord, value: Json | undefined): FormField['kind'] | undefined {
  if (Array.isArray(property.enum) && property.enum.every((one) => typeof one === 'string')) return 'choice';
  switch (property.type) {
    case 'string':
      return LONG_NAMES.test(name) || (typeof value === 'string' && value.length > 80) ? 'long' : 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return isRecord(property.items) && property.items.type === 'string' ? 'texts' : undefined;
    default:
      return undefined;
  }
}
