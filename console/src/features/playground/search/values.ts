/** The fields of the form, and what depends on them alone. */
import type { PlaygroundModel } from '../frame/capability.ts'

export interface SearchValues {
  readonly query: string
  readonly count: number | string
  readonly period: string
  readonly sites: string
  readonly isLong: boolean
}

export const SEARCH_TYPES: Readonly<Record<string, string>> = {
  'vendor-web-search': 'web',
  'vendor-global-search': 'global',
}

/** Global search supports neither times nor sites. */
export function isWebSearch({ id }: PlaygroundModel): boolean {
  return SEARCH_TYPES[id] !== 'global'
}
