/** Requests for the charge in the body of an answer. */
import type { IncomingHttpHeaders } from 'node:http'
import { member } from '../../../base/lib/json.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import { spliceJson } from '../../../wire/dialects/splice.ts'
import type { RequestMetering } from '../metering.ts'
import { parseObject, type RequestJson } from './read-request.ts'

/** Returns true if a request of its caller wants the charge in the body. */
export function wantsCost(
  { usagePlace }: Pick<RequestMetering, 'usagePlace'>,
  { costInAnswers }: Pick<Caller, 'costInAnswers'>,
  headers: IncomingHttpHeaders,
): boolean {
  return usagePlace !== undefined && (costInAnswers === true || asksForCost(headers))
}

function asksForCost(headers: IncomingHttpHeaders): boolean {
  return headers['x-tributary-cost'] === 'true'
}

/**
 * Returns a streaming request with the option that makes the vendor send the usage, if its header
 * asks for the charge and the request itself does not set the option. A setting of the key does not
 * have this effect, since the key's clients may not know the usage event.
 */
export function askForUsage(
  request: RequestJson,
  { usagePlace, streams }: RequestMetering,
  headers: IncomingHttpHeaders,
): RequestJson {
  const [name, option] = usagePlace?.option ?? []
  const { body, value, fields } = request
  if (name === undefined || option === undefined) return request
  if (!streams(value) || !asksForCost(headers)) return request
  const options = value[name]
  if (member(options, option) !== undefined) return request
  return parseObject(spliceJson(body, fields, { setInside: { [name]: { [option]: 'true' } } }))
}
