/**
 * Tools of the messages format that the caller runs and whose schema only its models know. A chat
 * model gets the schema with the tool; the calls and results have the same form as for any
 * function.
 */
import type { JsonObject } from '../../../base/lib/json.ts'

const text = { type: 'string' }
const line = { type: 'integer' }
const range = { type: 'array', items: line, description: 'First and last line, from 1.' }

function describe(description: string, properties: JsonObject, required: string[]): JsonObject {
  return { description, parameters: { type: 'object', properties, required } }
}

/** Names the commands of a tool for files; the caller's tool refuses those it does not have. */
function describeFiles(description: string, commands: string[], more: JsonObject): JsonObject {
  const properties = {
    command: { type: 'string', enum: commands },
    path: text,
    file_text: { ...text, description: 'The content of a file to create.' },
    old_str: text,
    new_str: text,
    insert_line: line,
    insert_text: text,
    view_range: range,
    ...more,
  }
  return describe(description, properties, ['command'])
}

const BASH = describe(
  'Runs a command in a bash session that keeps its state.',
  { command: text, restart: { type: 'boolean', description: 'true: starts the session anew.' } },
  [],
)
const EDITOR = describeFiles(
  'Views and edits text files.',
  ['view', 'create', 'str_replace', 'insert'],
  {},
)
const OLD_EDITOR = describeFiles(
  'Views and edits text files.',
  ['view', 'create', 'str_replace', 'insert', 'undo_edit'],
  {},
)
const MEMORY = describeFiles(
  'Keeps notes in files of the directory /memories. View it before anything else.',
  ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
  { old_path: text, new_path: text },
)

const KNOWN: readonly (readonly [RegExp, JsonObject])[] = [
  [/^bash_\d{8}$/, BASH],
  [/^text_editor_202(?:4|501)\d*$/, OLD_EDITOR],
  [/^text_editor_\d{8}$/, EDITOR],
  [/^memory_\d{8}$/, MEMORY],
]

/** Returns `description` and `parameters` of such a tool; undefined for any other type. */
export function findKnownTool(type: string): JsonObject | undefined {
  return KNOWN.find(([pattern]) => pattern.test(type))?.[1]
}
