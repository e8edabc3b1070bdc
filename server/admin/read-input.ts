/** Reads what a request of the admin API brings, against its declaration. */
import type { ZodType } from 'zod'
import { GatewayError, invalidField } from '../errors.ts'
import { expectJson, readBody } from '../http/body.ts'
import type { Context } from '../http/context.ts'
import type { RouteDeclaration } from './contract/route.ts'

/** Prices, catalogs and settings are small; media go through the public API. */
const BODY_BYTES_MAX = 1 << 20
/** Of somebody unknown: a password or a passkey's answer. */
const PUBLIC_BODY_BYTES_MAX = 1 << 16

/** Throws 404 for an id that the database could not read, 400 with the field at fault, 413, 415. */
export async function readInput(context: Context, declared: RouteDeclaration) {
  if (Object.values(context.params).some((id) => id?.includes('\0'))) {
    throw new GatewayError('not_found')
  }
  return {
    query: declared.query && check(declared.query, Object.fromEntries(context.query), 'query'),
    body: declared.body && check(declared.body, await readJson(context, declared), 'body'),
  }
}

async function readJson({ request }: Context, { role }: RouteDeclaration): Promise<unknown> {
  expectJson(request)
  const bytes = await readBody(request, role === 'public' ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX)
  if (bytes.length === 0) return {}
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new GatewayError('invalid_request', { message: 'the body is not JSON' })
  }
}

function check(schema: ZodType, value: unknown, place: string): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw invalidField(issue?.path.join('.') || place, issue?.message ?? 'invalid')
}
