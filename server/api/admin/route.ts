/**
 * The form of the admin contract. A route is named by its method and path and declares its role,
 * input and answer. The server checks requests against it, the console takes its types from it, and
 * the reference, the OpenAPI document and the role matrix of the tests are generated from it. Paths
 * are relative to `/admin/v1`.
 */
import type { ZodObject, ZodType, z } from 'zod'
import type { SchemaRow } from '../endpoints/codecs.ts'

/**
 * The role that may call a route. `user`: anybody signed in. `member` (whatever their role),
 * `billing`, `developer` and `owner`: of the account named by `:account_id` in the path; owners may
 * call the routes of all of them, and operators count as owners of every account.
 */
export type CallerRole = 'public' | 'user' | AccountRole | 'operator'
export type AccountRole = 'member' | 'billing' | 'developer' | 'owner'

/** Returns true for roles that depend on the account in the path. */
export function isAccountRole(role: CallerRole): role is AccountRole {
  return role === 'member' || role === 'billing' || role === 'developer' || role === 'owner'
}

export type RouteKey = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`

export interface RouteDeclaration {
  readonly role: CallerRole
  /** The group in the reference. */
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** Authenticated by a signature instead of a cookie, for callers that are not browsers. */
  readonly isSigned?: true
  /** Has a body but changes nothing, so it is not recorded in the audit log. */
  readonly isRead?: true
  /** For people only: no access token may call it. */
  readonly signInOnly?: true
  /**
   * Requires a session that was proved again within the last minutes, or an access token for
   * sensitive routes.
   */
  readonly stepUp?: true
  readonly query?: ZodObject
  readonly body?: ZodType
  /** If absent, the answer is 204, or the handler writes it itself if `answerType` is set. */
  readonly answer?: ZodType
  readonly answerType?: 'text/csv' | 'text/event-stream' | 'text/html' | 'application/json'
  /** Error statuses beyond those that follow from the declaration. */
  readonly errors?: readonly number[]
}

export type Contract = Readonly<Record<RouteKey, RouteDeclaration>>

/** Routes without the members that all routes of their area share. */
export type Routes<Shared extends keyof RouteDeclaration> = Readonly<
  Record<RouteKey, Omit<RouteDeclaration, Shared>>
>

/** Returns the contract of an area, with the shared members added to each route. */
export function area<
  Shared extends Partial<RouteDeclaration>,
  Own extends Routes<keyof Shared & keyof RouteDeclaration>,
>(shared: Shared, routes: Own): { readonly [Key in keyof Own]: Shared & Own[Key] } {
  const whole = Object.entries(routes).map(([key, route]) => [key, { ...shared, ...route }])
  return Object.fromEntries(whole)
}

/** `GET /accounts/:account_id/keys` → `account_id`. */
export type ParamNames<Key extends string> = Key extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Key extends `${string}:${infer Name}`
    ? Name
    : never

export type Params<Key extends string> = Readonly<Record<ParamNames<Key>, string>>

/** The query as a caller sends it. */
export type QueryOf<Declared> = Declared extends { query: infer Query extends ZodType }
  ? z.input<Query>
  : undefined
export type BodyOf<Declared> = Declared extends { body: infer Body extends ZodType }
  ? z.input<Body>
  : undefined

/** The query as a handler reads it: validated, with defaults filled in. */
export type ReadQuery<Declared> = Declared extends { query: infer Query extends ZodType }
  ? z.output<Query>
  : undefined
export type ReadBody<Declared> = Declared extends { body: infer Body extends ZodType }
  ? z.output<Body>
  : undefined

/** The JSON that a caller receives. */
export type AnswerOf<Declared> = Declared extends { answer: infer Answer extends ZodType }
  ? z.input<Answer>
  : undefined

/** A handler's result: rows with times and amounts, which the answer's schema encodes. */
export type ResultOf<Declared> = Declared extends { answer: infer Answer extends ZodType }
  ? Promise<SchemaRow<Answer>>
  : Promise<void>
