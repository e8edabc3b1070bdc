/**
 * Finds the references of a text request to objects stored in the vendor's account: items, files,
 * containers, conversations, prompts. References count wherever they stand, since vendors add
 * places; the caller's and the model's own content is skipped.
 */

import { isAbsent, isObject, type JsonObject } from '../../../../base/lib/json.ts'
import { foldKey } from '../../../../wire/dialects/json-scan.ts'
import type {
  Body,
  IdentifiedItem,
  NamedContent,
  StoredReference,
} from '../../../../work/pipeline/metering.ts'
import { judgeContent } from './item-content.ts'
import { BY_ID, BY_OBJECT, BY_URL, OPAQUE } from './stored-names.ts'

type Path = (string | number)[]

export interface FindOptions {
  /** True for the Responses dialect, whose input consists of items that may have ids. */
  readonly hasItems?: boolean
}

export function findReferences(value: Body, { hasItems = false }: FindOptions = {}): NamedContent {
  const found: StoredReference[] = []
  const identified: IdentifiedItem[] = []
  if (hasItems) readItems(value.input, found, identified)
  else if (!isAbsent(value.previous_response_id)) {
    found.push({ field: 'previous_response_id', id: value.previous_response_id })
  }
  walk(found, value, [])
  return { references: found, identified }
}

function readItems(input: unknown, found: StoredReference[], identified: IdentifiedItem[]): void {
  if (!Array.isArray(input)) return
  for (let position = 0; position < input.length; position += 1) {
    const item: unknown = input[position]
    if (!isObject(item) || isAbsent(item.id)) continue
    const { id } = item
    const content = judgeContent(item)
    if (content === 'stored') found.push({ field: `input[${position}].id`, id })
    else {
      const named = typeof id === 'string' ? { id } : {}
      identified.push({ position, ...named, isEmpty: content === 'empty' })
    }
  }
}

/** Recursion is limited by the depth of the body. */
function walk(found: StoredReference[], holder: object, path: Path): void {
  if (Array.isArray(holder)) {
    for (let index = 0; index < holder.length; index += 1) {
      const entry: unknown = holder[index]
      if (typeof entry === 'object' && entry !== null) step(found, entry, path, index)
    }
    return
  }
  const members = holder as JsonObject
  for (const name in members) {
    const value = members[name]
    if (typeof value === 'string') readText(found, name, value, path)
    else if (typeof value === 'object' && value !== null) {
      readMember(found, members, name, value, path)
    } else if (!isAbsent(value) && BY_ID.has(foldKey(name))) note(found, value, [...path, name])
  }
}

function step(found: StoredReference[], value: object, path: Path, name: string | number): void {
  path.push(name)
  walk(found, value, path)
  path.pop()
}

function readMember(
  found: StoredReference[],
  holder: JsonObject,
  name: string,
  value: object,
  path: Path,
): void {
  const folded = foldKey(name)
  if (BY_ID.has(folded)) readIds(found, value, [...path, name])
  else if (BY_OBJECT.has(folded) && isObject(value) && !isAbsent(value.id)) {
    note(found, value.id, [...path, name, 'id'])
  } else if (!OPAQUE.has(name) && !isOwn(holder, name)) {
    if (BY_URL.has(folded) && Array.isArray(value)) readUrls(found, value, [...path, name])
    step(found, value, path, name)
  }
}

function readUrls(found: StoredReference[], urls: readonly unknown[], path: Path): void {
  for (const [index, url] of urls.entries()) {
    if (typeof url === 'string' && isStorage(url)) note(found, url, [...path, index])
  }
}

function isStorage(url: string): boolean {
  return STORAGE.test(beginningOf(url))
}

/** Returns what a reference is recognized by: a vendor may skip any number of spaces around it. */
function beginningOf(text: string): string {
  return text.trimStart().slice(0, STORAGE_LENGTH_MAX).trimEnd()
}

/**
 * Reads a member that holds references: a list of ids, or an object with an id and further members.
 */
function readIds(found: StoredReference[], value: object, path: Path): void {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) {
      if (isObject(entry)) readIds(found, entry, [...path, index])
      else note(found, entry, [...path, index])
    }
    return
  }
  const { id } = value as JsonObject
  if (!isAbsent(id)) note(found, id, [...path, 'id'])
  walk(found, value, path)
}

/** True for a tool's arguments, and for the output of code that ran in a container. */
function isOwn({ type }: JsonObject, name: string): boolean {
  if (typeof type !== 'string') return false
  if (name === 'input') return type.endsWith('tool_use')
  return name === 'content' && type.endsWith('execution_tool_result')
}

/** Matches a scheme that is neither http(s) nor data, or a bare file id. */
const STORAGE = /^(?:(?!https?:|data:)[a-z][a-z0-9+._-]{0,30}:|(?:file|asset)[-_][\w-]{1,99}$)/i
const STORAGE_LENGTH_MAX = 160
/** The vendor's own skills have readable names and belong to no account. */
const OWN_SKILL = /^[a-z]{1,40}$|^[a-z]{1,20}-[a-z]{1,20}$/
/**
 * DashScope accepts files as the text of a message; translators turn other file parts into such
 * messages.
 */
const FILE_TEXT = /^fileid:\/\//i
const TEXTS: ReadonlySet<string> = new Set(['content', 'text', 'input', 'instructions', 'system'])

function readText(found: StoredReference[], name: string, text: string, path: Path): void {
  const folded = foldKey(name)
  if (BY_ID.has(folded)) {
    if (folded === 'skill_id' && OWN_SKILL.test(text)) return
    note(found, text, [...path, name])
  } else if (BY_URL.has(folded)) {
    if (isStorage(text)) note(found, text, [...path, name])
  } else if (TEXTS.has(name) && FILE_TEXT.test(beginningOf(text))) {
    note(found, beginningOf(text).replace(FILE_TEXT, ''), [...path, name])
  }
}

function note(found: StoredReference[], id: unknown, path: Path): void {
  found.push({ field: printPath(path), id })
}

function printPath([first = '', ...steps]: Path): string {
  const rest = steps.map((name) => (typeof name === 'number' ? `[${name}]` : `.${name}`))
  return `${first}${rest.join('')}`
}
