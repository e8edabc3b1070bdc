/**
 * Tools of free text, for models that call functions only: a function with one parameter, which is
 * the whole input.
 */
import { asString, member, tryParseJson } from '../../../base/lib/json.ts'

/** The schema of the one parameter. */
export const FREE_TEXT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as it is.' } },
  required: ['input'],
  additionalProperties: false,
}

/** Describes the grammar to the model, since it cannot be enforced here. */
export function describeFreeText(description: unknown, grammar: unknown): string {
  const definition = asString(member(grammar, 'definition'))
  const syntax = asString(member(grammar, 'syntax')) ?? ''
  const rules = definition === undefined ? [] : [`It follows this ${syntax} grammar:`, definition]
  const request = 'Give the whole input as the string `input`.'
  return [asString(description) ?? '', request, ...rules].join('\n')
}

/** Models that are instructed to write free text may omit the object around it. */
export function readFreeText(text: string): string {
  const parsed = tryParseJson(Buffer.from(text))
  return asString(parsed) ?? asString(member(parsed, 'input')) ?? text
}
