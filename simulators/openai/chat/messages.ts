// Checks the order and content of chat messages, with the vendor's own sentences.
import { isObject, type Json, objects, text } from '../../kernel/checks.ts'
import { badType, badValue, invalid, missing } from '../errors.ts'
import type { ChatRules } from './request.ts'

export function checkMessages(messages: unknown, rules: ChatRules): void {
  if (messages === undefined || messages === null) throw missing('messages')
  if (!Array.isArray(messages)) throw badType('messages', 'an array of objects')
  if (messages.length === 0) {
    const message = "Invalid 'messages': empty array. Expected an array with minimum length 1."
    throw invalid('messages', 'empty_array', message)
  }
  for (const [index, message] of messages.entries()) checkMessage(message, index, rules)
  checkToolOrder(objects(messages))
}

function checkMessage(message: unknown, index: number, rules: ChatRules): void {
  const at = `messages[${index}]`
  if (!isObject(message)) throw badType(at, 'an object')
  const role = text(message.role)
  if (role === '') throw missing(`${at}.role`)
  if (!rules.roles.includes(role)) throw badValue(`${at}.role`, role, rules.roles)
  if (role === 'tool' && typeof message.tool_call_id !== 'string') {
    throw missing(`${at}.tool_call_id`)
  }
  if (role === 'function' && typeof message.name !== 'string') throw missing(`${at}.name`)
  checkToolCalls(message, at)
  const optional =
    role === 'assistant' &&
    (Array.isArray(message.tool_calls) ||
      isObject(message.function_call) ||
      typeof message.refusal === 'string' ||
      typeof message.reasoning_content === 'string')
  checkContent(message.content, { at, role, optional, rules })
}

interface Where {
  at: string
  role: string
  optional: boolean
  rules: ChatRules
}

function checkContent(content: unknown, where: Where): void {
  const { at, role, optional, rules } = where
  if (content === null || content === undefined) {
    if (optional) return
    const message = `Invalid value for 'content': expected a string, got null.`
    throw invalid(`${at}.content`, undefined, message)
  }
  if (typeof content === 'string') return
  if (!Array.isArray(content)) throw badType(`${at}.content`, 'a string or an array of objects')
  if (content.length === 0) {
    const message = `Invalid '${at}.content': empty array. Expected at least one part.`
    throw invalid(`${at}.content`, 'empty_array', message)
  }
  const allowed = role === 'user' ? rules.parts : ['text', 'refusal']
  for (const [index, part] of content.entries()) {
    checkPart(part, `${at}.content[${index}]`, allowed)
  }
}

function checkPart(part: unknown, at: string, allowed: string[]): void {
  if (!isObject(part)) throw badType(at, 'an object')
  const type = text(part.type)
  if (!allowed.includes(type)) {
    if (type === 'image_url') {
      const message = `Invalid '${at}': image URLs are only allowed for messages with role 'user'.`
      throw invalid(at, 'invalid_value', message)
    }
    throw badValue(`${at}.type`, type, allowed)
  }
  if (type === 'text' && typeof part.text !== 'string') throw missing(`${at}.text`)
  if (type !== 'image_url') return
  const url = isObject(part.image_url) ? part.image_url.url : undefined
  if (typeof url !== 'string') throw missing(`${at}.image_url.url`)
  if (!/^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/i.test(url)) {
    const message = `Invalid '${at}.image_url.url': expected an http(s) URL or an image data URI.`
    throw invalid(`${at}.image_url.url`, 'invalid_image_url', message)
  }
}

function checkToolCalls(message: Json, at: string): void {
  if (message.tool_calls === undefined || message.tool_calls === null) return
  if (!Array.isArray(message.tool_calls)) throw badType(`${at}.tool_calls`, 'an array of objects')
  if (message.tool_calls.length === 0) {
    const sentence = `Invalid '${at}.tool_calls': empty array. Expected at least one call.`
    throw invalid(`${at}.tool_calls`, 'empty_array', sentence)
  }
  for (const [index, call] of message.tool_calls.entries()) {
    const here = `${at}.tool_calls[${index}]`
    if (!isObject(call)) throw badType(here, 'an object')
    if (typeof call.id !== 'string') throw missing(`${here}.id`)
    const body = call.type === 'custom' ? call.custom : call.function
    if (!isObject(body) || typeof body.name !== 'string') throw missing(`${here}.function.name`)
    const args = call.type === 'custom' ? body.input : body.arguments
    if (typeof args !== 'string') throw badType(`${here}.function.arguments`, 'a string')
  }
}

/** Requires that every call is answered by tool messages directly after it, and by no others. */
function checkToolOrder(messages: Json[]): void {
  let open: Set<string> | undefined
  let openedAt = 0
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open?.delete(text(message.tool_call_id))) throw withoutCall(index)
      continue
    }
    if (open && open.size > 0) throw unanswered(openedAt, open)
    open = undefined
    const calls = objects(message.tool_calls)
    if (calls.length === 0) continue
    open = new Set(calls.map((call) => text(call.id)))
    openedAt = index
  }
  if (open && open.size > 0) throw unanswered(openedAt, open)
}

function withoutCall(index: number): Error {
  const message =
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message " +
    "with 'tool_calls'."
  return invalid(`messages.[${index}].role`, undefined, message)
}

function unanswered(index: number, open: Set<string>): Error {
  const message =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to " +
    "each 'tool_call_id'. The following tool_call_ids did not have response messages: " +
    [...open].join(', ')
  return invalid(`messages.[${index}].role`, undefined, message)
}
