/** The options of an apply and the changes that it reports. */
import type { Sql, TransactionSql } from 'postgres'
import type { SecretBox } from '../../../base/lib/secrets/secrets.ts'
import type { KnownUpstreams } from '../channel-settings.ts'
import type { Environment } from '../environment.ts'
import type { NamedCatalogFile } from './file.ts'

export type EntryKind = 'channels' | 'models'

export interface ApplyOptions {
  readonly sql: Sql
  readonly files: readonly NamedCatalogFile[]
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly environment: Environment
  /** Retires everything that none of the files names. */
  readonly replace?: boolean
  /** Retires nothing: the files hold some of their entries. */
  readonly partial?: boolean
  /** Entries of this kind must be new: names in use are mistakes. */
  readonly creates?: EntryKind | undefined
  /** Reports the changes without making them. */
  readonly dryRun?: boolean
  /** The version of a channel that the files were made from; another one is a StaleChannel. */
  readonly madeFrom?: { readonly id: string; readonly version: number } | undefined
  /** An entry as its editor has read it; another revision is a ChangedEntry. */
  readonly expected?:
    | { readonly kind: EntryKind; readonly id: string; readonly revision: string }
    | undefined
  /** Further changes in the same transaction. */
  readonly alongside?: (sql: TransactionSql) => Promise<readonly ConfigurationChange[]>
}

/** Thrown where a channel has changed since it was read. */
export class StaleChannel extends Error {}

/**
 * A changed leaf: its path with its old and new text, one of which is absent if the leaf is new or
 * gone.
 */
export interface Difference {
  readonly path: string
  readonly from?: string
  readonly to?: string
}

/** One change of an apply, of the catalog or of what was applied alongside. */
export interface ConfigurationChange {
  readonly kind: string
  readonly id: string
  readonly change: 'added' | 'changed' | 'retired'
  /** The changed parts, for display: `settings`, `prices`, `routes`, … */
  readonly what: readonly string[]
  /** The changed values; secrets are masked. */
  readonly differences?: readonly Difference[]
}

export interface CatalogChange extends ConfigurationChange {
  readonly kind: 'channel' | 'model' | 'price_list' | 'token_issuer'
}
