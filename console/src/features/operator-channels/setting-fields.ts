/** Converts an upstream's JSON Schema of settings to form fields, and their values to settings. */

import { type Change, listChanges } from '../../components/form/list-changes.ts'
import { plainNumber } from '../../lib/nanos.ts'

/**
 * `secret-json`: a secret of several members; `secret-list`: several secrets; `option`: a switch
 * without a default of its own, so that what leaving it open means depends on other settings.
 */
export type FieldKind =
  | 'text'
  | 'secret'
  | 'secret-json'
  | 'secret-list'
  | 'number'
  | 'switch'
  | 'option'
  | 'choice'
  | 'json'

export interface Field {
  readonly name: string
  readonly kind: FieldKind
  readonly isRequired: boolean
  readonly description: string
  readonly choices: readonly string[]
  readonly initial: string
}

/** Values of the form as text; `'true'` or `'false'` for a switch, `''` for an open option. */
export type SettingValues = Readonly<Record<string, string>>

export type Settings = Record<string, unknown>

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null

export function listSettingFields(schema: Schema, secrets: readonly string[]): Field[] {
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(properties).map(([name, member]) => {
    const one = isSchema(member) ? member : {}
    return {
      name,
      kind: kindOf(one, secrets.includes(name)),
      isRequired: required.includes(name) && one.default === undefined,
      description: typeof one.description === 'string' ? one.description : '',
      choices: Array.isArray(one.enum) ? one.enum.map(String) : [],
      initial: one.default === undefined ? '' : toText(one.default),
    }
  })
}

function kindOf(schema: Schema, isSecret: boolean): FieldKind {
  if (isSecret && isList(schema)) return 'secret-list'
  if (isSecret) return schema.type === 'object' ? 'secret-json' : 'secret'
  if (Array.isArray(schema.enum)) return 'choice'
  if (schema.type === 'boolean') return schema.default === undefined ? 'option' : 'switch'
  if (schema.type === 'number' || schema.type === 'integer') return 'number'
  return schema.type === 'string' ? 'text' : 'json'
}

/** One of its forms is a list; a secret that is an object or its text is pasted as a text. */
function isList({ anyOf }: Schema): boolean {
  return Array.isArray(anyOf) && anyOf.some((one) => isSchema(one) && one.type === 'array')
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the initial values: the channel's settings, else the defaults. Secrets are empty. */
export function readValues(fields: readonly Field[], settings: Schema): SettingValues {
  const entries = fields.map(({ name, kind, initial }) => {
    const current = settings[name]
    if (isSecretKind(kind)) return [name, ''] as const
    return [name, current === undefined ? initial : toText(current)] as const
  })
  return Object.fromEntries(entries)
}

/** Returns the settings without empty fields: the server has the defaults, and keeps secrets. */
export function toSettings(
  fields: readonly Field[],
  values: SettingValues,
): { readonly settings: Settings } | { readonly badJson: string } {
  const settings: Settings = {}
  for (const { name, kind } of fields) {
    const text = (values[name] ?? '').trim()
    if (text === '') continue
    if (kind === 'number') settings[name] = Number(plainNumber(text))
    else if (kind === 'switch' || kind === 'option') settings[name] = text === 'true'
    else if (kind === 'secret-list') settings[name] = splitLines(text)
    else if (kind === 'json' || kind === 'secret-json') {
      try {
        settings[name] = JSON.parse(text)
      } catch {
        return { badJson: name }
      }
    } else settings[name] = text
  }
  return { settings }
}

/** Returns what saving `next` changes in the stored settings; a typed secret counts as changed. */
export function listSettingChanges(
  fields: readonly Field[],
  stored: Schema,
  next: Settings,
): Change[] {
  const read = toSettings(fields, readValues(fields, stored))
  const before = 'settings' in read ? read.settings : {}
  return fields.flatMap(({ name, kind }): Change[] => {
    if (!isSecretKind(kind)) {
      return listChanges(before[name], next[name], name)
    }
    return next[name] === undefined ? [] : [{ path: name, isSecret: true }]
  })
}

const isSecretKind = (kind: FieldKind) => kind.startsWith('secret')

/** The example of an address for protocols that have none of their own. */
const ADDRESS = 'https://api.example.com/v1'

/** Returns an address as the vendors of a protocol have it: its default, or an invented one. */
export function exampleOf(initial: string): string {
  return initial === '' ? ADDRESS : initial
}

/** A line each, or separated by commas. */
function splitLines(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
