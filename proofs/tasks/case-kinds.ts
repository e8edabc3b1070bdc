/**
 * The kinds of cases of the submissions proof: the model of a call, and the way to find its task.
 */
import type { Sql } from 'postgres'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { SECRET_KEY } from '../../tests/support/gateway.ts'
import type { AcceptedTask } from './submission-vendor.ts'

/**
 * spaced: a list, and a model for each call. crowded: a list, and one model for all of them.
 * silent: neither a list nor anything else. known: can be queried by the gateway's own id, one
 * model for all. callback: cannot be queried, but calls back, one model for all. listed and named:
 * as spaced and known, of other vendors; predicted and hooked: as spaced and callback, of vendors
 * whose API is data.
 */
export const CASE_KINDS = [
  'spaced',
  'crowded',
  'silent',
  'known',
  'callback',
  'listed',
  'named',
  'predicted',
  'hooked',
] as const
export type CaseKind = (typeof CASE_KINDS)[number]

export interface Call {
  readonly kind: CaseKind
  /** Text that the vendor sees; it identifies the call. */
  readonly text: string
}

/** Half of the time after which the gateways of the proof give up an unknown submission. */
const CALLED_BACK_MS_MAX = 7_500

/** Returns true for a task about which a gateway was told while it may still be found. */
export function isCalledBackInTime({ atMs, calledBackMs }: AcceptedTask): boolean {
  return calledBackMs !== undefined && calledBackMs - atMs < CALLED_BACK_MS_MAX
}

/**
 * Returns true for calls about which the vendor's evidence is exact: an existing task can be found.
 * A callback proves a task, once it reaches a gateway, but not its absence; a query proves both.
 */
export function isFindable({ kind }: Call, task: AcceptedTask | undefined): boolean {
  if (['spaced', 'known', 'listed', 'named', 'predicted'].includes(kind)) return true
  return ['callback', 'hooked'].includes(kind) && task !== undefined && isCalledBackInTime(task)
}

export function requestOf({ kind, text }: Call): { readonly path: string; readonly body: object } {
  if (kind === 'known') {
    const file_url = `https://media.example/${text}.mp3`
    return { path: '/v1/audio/minutes', body: { model: 'known', file_url } }
  }
  const hasOwn = ['spaced', 'listed', 'predicted'].includes(kind)
  const model = hasOwn ? `${kind}-${text}` : kind
  const content = [{ type: 'text', text }]
  return { path: '/v1/videos/generations', body: { model, content, ratio: '16:9' } }
}

export async function applyProofCatalog(
  sql: Sql,
  vendorUrl: string,
  calls: readonly Call[],
): Promise<void> {
  const api_key = 'vendor-key'
  const channel = (id: string, upstream: string, path: string, more = {}) => {
    return { id, upstream, settings: { base_url: vendorUrl + path, api_key, ...more } }
  }
  const noCallbacks = { callbacks: false }
  const tokens = [{ unit: 'output_token', per: 1_000_000, amount: '46' }]
  const seconds = [{ unit: 'second', amount: '0.5' }]
  const video = (id: string, channelId: string, upstream_model: string, prices: object[]) => {
    return { id, type: 'video', prices, routes: [{ channel: channelId, upstream_model }] }
  }
  const spaced = calls.filter(({ kind }) => kind === 'spaced')
  const listed = calls.filter(({ kind }) => kind === 'listed')
  const predicted = calls.filter(({ kind }) => kind === 'predicted')
  const media = (name: string, preset: string, more = {}) =>
    channel(`submissions-${name}`, 'media-tasks', `/${preset}`, { preset, ...more })
  const content = {
    channels: [
      channel('submissions-list', 'ark', '/ark/api/v3', noCallbacks),
      channel('submissions-silent', 'minimax', '/minimax', noCallbacks),
      channel('submissions-callback', 'minimax', '/minimax'),
      channel('submissions-listed', 'dashscope', '/dashscope'),
      channel('submissions-named', 'kling', '/kling'),
      media('predicted', 'replicate', noCallbacks),
      media('hooked', 'fal'),
      channel('submissions-known', 'doubao-recognition', '/recognition'),
    ],
    models: [
      ...spaced.map(({ text }) =>
        video(`spaced-${text}`, 'submissions-list', `doubao-seedance-2-0-${text}`, tokens),
      ),
      ...listed.map(({ text }) =>
        video(`listed-${text}`, 'submissions-listed', `wan3.0-video-${text}`, seconds),
      ),
      ...predicted.map(({ text }) =>
        video(`predicted-${text}`, 'submissions-predicted', `owner/${text}`, seconds),
      ),
      video('hooked', 'submissions-hooked', 'owner/films', seconds),
      video('named', 'submissions-named', 'kling-3.0', seconds),
      video('crowded', 'submissions-list', 'doubao-seedance-2-0-260128', tokens),
      video('silent', 'submissions-silent', 'MiniMax-H3', seconds),
      video('callback', 'submissions-callback', 'MiniMax-H3', seconds),
      {
        id: 'known',
        type: 'minutes',
        prices: seconds,
        routes: [{ channel: 'submissions-known', upstream_model: 'volc.seedasr.auc' }],
      },
    ],
  }
  await applyCatalog({
    sql,
    files: [parseCatalogFile('submissions.json', JSON.stringify(content), {})],
    upstreams: Object.fromEntries(UPSTREAMS),
    secrets: createSecretBox([SECRET_KEY]),
    environment: {},
  })
}
