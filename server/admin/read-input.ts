/** Reads the parameters, query and body of an admin request according to its declaration. */

import { readJsonBody } from '../http/body.ts'
import { checkForm, checkQuery, checkShape, refuseUnstorable } from '../http/check-shape.ts'
import type { Context } from '../http/context.ts'
import { GatewayError } from '../lib/errors.ts'
import type { RouteDeclaration } from './route.ts'

/** Prices, catalogs and settings are small; media go through the public API. */
const BODY_BYTES_MAX = 1 << 20
/** For callers without a session: a password or a passkey's response. */
const PUBLIC_BODY_BYTES_MAX = 1 << 16

/** Throws 400 with the invalid fields, 413 or 415. */
export async function readInput(context: Context, declared: RouteDeclaration) {
  // A stranger's list is read up to its first wrong entry.
  const check = declared.role === 'public' ? checkShape : checkForm
  refuseUnstorable(Object.fromEntries(context.query), 'query')
  return {
    query: declared.query && checkQuery(declared.query, context.query),
    body: declared.body && check(declared.body, await readJson(context, declared)),
  }
}

async function readJson(context: Context, { role }: RouteDeclaration): Promise<unknown> {
  const bytes = await readJsonBody(
    context,
    role === 'public' ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX,
  )
  if (bytes.length === 0) return {}
  const body = parseBody(bytes)
  refuseUnstorable(body, 'body')
  return body
}

function parseBody(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new GatewayError('invalid_request', { message: 'the body is not JSON' })
  }
}
