/**
 * The form of the admin contract: each route is named by its method and path, and says who may
 * call it, what it reads and what it answers. The server checks requests against it, the console
 * takes its types from it, and the reference, the OpenAPI document and the role matrix of the
 * tests are generated from it. Paths stand under `/admin/v1`.
 */
import type { ZodObject, ZodType, z } from 'zod'

/**
 * Who may call a route. `user`: anybody signed in. `member` and `owner`: of the account named by
 * `:account_id` in the path; operators count as owners of every account.
 */
export type CallerRole = 'public' | 'user' | 'member' | 'owner' | 'operator'

export type RouteKey = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`

export interface RouteDeclaration {
  readonly role: CallerRole
  /** The group in the reference. */
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** It proves itself by a signature, not by a cookie: programs that are no browser call it. */
  readonly isSigned?: true
  /** It has a body but changes nothing: no row of the audit log tells of it. */
  readonly isRead?: true
  /** For people alone: no access token may do it, whatever it may otherwise. */
  readonly signInOnly?: true
  /**
   * The session must have proved itself again within the last minutes; an access token must be
   * one for what is sensitive.
   */
  readonly stepUp?: true
  readonly query?: ZodObject
  readonly body?: ZodType
  /** Absent: 204, or the handler writes the answer itself when `answerType` is there. */
  readonly answer?: ZodType
  readonly answerType?: 'text/csv' | 'text/event-stream' | 'application/json'
  /** Error statuses beyond those that follow from the declaration. */
  readonly errors?: readonly number[]
}

export type Contract = Readonly<Record<RouteKey, RouteDeclaration>>

/** `GET /accounts/:account_id/keys` → `account_id`. */
export type ParamNames<Key extends string> = Key extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Key extends `${string}:${infer Name}`
    ? Name
    : never

export type Params<Key extends string> = Readonly<Record<ParamNames<Key>, string>>

/** What a caller sends. */
export type QueryOf<Declared> = Declared extends { query: infer Query extends ZodType }
  ? z.input<Query>
  : undefined
export type BodyOf<Declared> = Declared extends { body: infer Body extends ZodType }
  ? z.input<Body>
  : undefined

/** What a handler reads: checked, with defaults filled in. */
export type ReadQuery<Declared> = Declared extends { query: infer Query extends ZodType }
  ? z.output<Query>
  : undefined
export type ReadBody<Declared> = Declared extends { body: infer Body extends ZodType }
  ? z.output<Body>
  : undefined

/** What a handler returns and a caller gets, in JSON. */
export type AnswerOf<Declared> = Declared extends { answer: infer Answer extends ZodType }
  ? z.input<Answer>
  : undefined
