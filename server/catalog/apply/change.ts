/** The options of an apply and the changes that it reports. */
import type { Sql } from 'postgres'
import type { SecretBox } from '../../lib/secrets/secrets.ts'
import type { KnownUpstreams } from '../channel-settings.ts'
import type { Environment } from '../environment.ts'
import type { NamedCatalogFile } from './file.ts'

export interface ApplyOptions {
  readonly sql: Sql
  readonly files: readonly NamedCatalogFile[]
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly environment: Environment
  /** Retires everything that none of the files names. */
  readonly replace?: boolean
  /** Reports the changes without making them. */
  readonly dryRun?: boolean
}

export interface CatalogChange {
  readonly kind: 'channel' | 'model'
  readonly id: string
  readonly change: 'added' | 'changed' | 'retired'
  /** The changed parts, for display: `settings`, `prices`, `routes`, … */
  readonly what: readonly string[]
}
