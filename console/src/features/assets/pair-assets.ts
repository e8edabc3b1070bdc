/** Pairs videos with their copies, which the API lists separately. */
import type { RowOf } from '../../lib/use-admin.ts'

export type Asset = RowOf<'GET /accounts/:account_id/assets'>

export interface Pair {
  readonly asset: Asset
  /** The newest copy without subtitles. */
  readonly copy: Asset | undefined
  /** Its last frame, used as the poster. */
  readonly poster: string | undefined
}

/**
 * Keeps the order, newest first. A copy is younger than its original and so is loaded before it; a
 * copy whose original was deleted, or is not loaded yet, stands by itself.
 */
export function pairAssets(assets: readonly Asset[]): readonly Pair[] {
  const videos = assets.filter(({ kind }) => kind === 'video')
  const videoIds = new Set(videos.map(({ id }) => id))
  const taskIds = new Set(videos.map(({ task_id: taskId }) => taskId))
  const isShownElsewhere = ({ kind, original_id: originalId, task_id: taskId }: Asset) =>
    (kind === 'erased' && originalId !== undefined && videoIds.has(originalId)) ||
    (kind === 'last_frame' && taskIds.has(taskId))
  return assets
    .filter((asset) => !isShownElsewhere(asset))
    .map((asset) => ({
      asset,
      copy: assets.find(({ original_id: originalId }) => originalId === asset.id),
      poster: posterOf(assets, asset),
    }))
}

function posterOf(assets: readonly Asset[], { task_id: taskId }: Asset): string | undefined {
  const frame = assets.find((one) => one.kind === 'last_frame' && one.task_id === taskId)
  return frame?.copy.state === 'stored' ? (frame.url ?? undefined) : undefined
}
