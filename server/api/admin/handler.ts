/** The type of the handler behind a route of the contract. */
import type { Context } from '../../base/http/context.ts'
import type { Session } from '../sign-in/sessions/session.ts'
import type { Contract, Params, ReadBody, ReadQuery, ResultOf } from './route.ts'
import type { AdminServices } from './services.ts'

export interface AdminInput<Key extends string, Declared> {
  readonly context: Context
  /** Undefined only on public routes. */
  readonly session: Declared extends { role: 'public' } ? Session | undefined : Session
  readonly params: Params<Key>
  readonly query: ReadQuery<Declared>
  readonly body: ReadBody<Declared>
  /** Adds facts to the request's row in the audit log: never a secret. */
  note(details: Readonly<Record<string, unknown>>): void
}

export type Handler<Key extends string, Declared> = (
  input: AdminInput<Key, Declared>,
  services: AdminServices,
) => ResultOf<Declared>

/** One handler for each route of a contract; a missing one does not compile. */
export type HandlersOf<Area extends Contract> = {
  readonly [Key in keyof Area & string]: Handler<Key, Area[Key]>
}

/** Checks of some routes of a contract, run before a step-up is asked for; they change nothing. */
export type ChecksOf<Area extends Contract, Keys extends keyof Area & string> = {
  readonly [Key in Keys]: (
    input: AdminInput<Key, Area[Key]>,
    services: AdminServices,
  ) => Promise<unknown>
}

/** A handler as the router calls it, without its specific types. */
export type AnyHandler = (
  input: {
    readonly context: Context
    readonly session: Session | undefined
    readonly params: Readonly<Record<string, string | undefined>>
    readonly query: unknown
    readonly body: unknown
    note(details: Readonly<Record<string, unknown>>): void
  },
  services: AdminServices,
) => Promise<unknown>
