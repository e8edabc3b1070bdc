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

/** A place in the request, linked outwards: a body may have many references below a long name. */
interface Place {
  readonly name: string | number
  readonly around: Place | undefined
}

type NamedPlace = Place & { readonly name: string }

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
  walk(found, value, undefined)
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
function walk(found: StoredReference[], holder: object, around: Place | undefined): void {
  if (Array.isArray(holder)) {
    for (let index = 0; index < holder.length; index += 1) {
      const entry: unknown = holder[index]
      if (typeof entry === 'object' && entry !== null) walk(found, entry, { name: index, around })
    }
    return
  }
  const members = holder as JsonObject
  for (const name in members) {
    const value = members[name]
    if (typeof value === 'string') readText(found, value, { name, around })
    else if (typeof value === 'object' && value !== null) {
      readMember(found, members, value, { name, around })
    } else if (!isAbsent(value) && BY_ID.has(foldKey(name))) note(found, value, { name, around })
  }
}

function readMember(
  found: StoredReference[],
  holder: JsonObject,
  value: object,
  place: NamedPlace,
): void {
  const { name } = place
  const folded = foldKey(name)
  if (BY_ID.has(folded)) readIds(found, value, place)
  else if (BY_OBJECT.has(folded) && isObject(value) && !isAbsent(value.id)) {
    note(found, value.id, { name: 'id', around: place })
  } else if (!OPAQUE.has(name) && !isOwn(holder, name)) {
    if (BY_URL.has(folded) && Array.isArray(value)) readUrls(found, value, place)
    walk(found, value, place)
  }
}

function readUrls(found: StoredReference[], urls: readonly unknown[], around: Place): void {
  for (const [name, url] of urls.entries()) {
    if (typeof url === 'string' && isStorage(url)) note(found, url, { name, around })
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
function readIds(found: StoredReference[], value: object, around: Place): void {
  if (Array.isArray(value)) {
    for (const [name, entry] of value.entries()) {
      if (isObject(entry)) readIds(found, entry, { name, around })
      else note(found, entry, { name, around })
    }
    return
  }
  const { id } = value as JsonObject
  if (!isAbsent(id)) note(found, id, { name: 'id', around })
  walk(found, value, around)
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

function readText(found: StoredReference[], text: string, place: NamedPlace): void {
  const { name } = place
  const folded = foldKey(name)
  if (BY_ID.has(folded)) {
    if (folded === 'skill_id' && OWN_SKILL.test(text)) return
    note(found, text, place)
  } else if (BY_URL.has(folded)) {
    if (isStorage(text)) note(found, text, place)
  } else if (TEXTS.has(name) && FILE_TEXT.test(beginningOf(text))) {
    note(found, beginningOf(text).replace(FILE_TEXT, ''), place)
  }
}

function note(found: StoredReference[], id: unknown, place: Place): void {
  found.push({
    id,
    // Read for a refusal alone, which names one of them.
    get field() {
      return printPlace(place)
    },
  })
}

/** Characters of a name that an error shows. */
const NAME_MAX = 100

function printPlace({ name, around }: Place): string {
  if (typeof name === 'number') return `${around ? printPlace(around) : ''}[${name}]`
  const shown = name.length > NAME_MAX ? `${name.slice(0, NAME_MAX)}…` : name
  return around ? `${printPlace(around)}.${shown}` : shown
}
