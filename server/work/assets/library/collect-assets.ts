/**
 * Reads the media from the result of a task that has succeeded. Runs inside the transaction that
 * ends the task, so an unexpected result yields fewer entries and never throws.
 */

import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { AssetKind } from '../../../base/lib/kinds-and-states.ts'

/** The members of a task that are read here. */
export interface FinishedTask {
  readonly id: string
  readonly kind: string
  readonly account_id: string
  readonly request_id: string
  readonly model: string
  readonly request: JsonObject
  readonly result: JsonObject | null
  /** The end by the database's clock; defaults to this process's current time. */
  readonly finished_at?: Date | null
}

export interface ResultAsset {
  readonly kind: AssetKind
  readonly position: number
  readonly sourceUrl: string
  readonly prompt?: string
  readonly width?: number
  readonly height?: number
  readonly seconds?: number
  /** The task whose video was the input. */
  readonly originalTaskId?: string
}

const URL_LENGTH_MAX = 8_192
const PROMPT_LENGTH_MAX = 10_000
const IMAGES_MAX = 100
const PIXELS_MAX = 100_000
const SIZE = /^(\d{1,5})\s*[x×*]\s*(\d{1,5})$/i

export function collectAssets(task: FinishedTask): readonly ResultAsset[] {
  const { request, result } = task
  if (!result) return []
  switch (task.kind) {
    case 'video':
      return collectVideo(result)
    case 'erase':
      return collectErased(request, result)
    case 'image':
      return collectImages(request, result)
    default:
      return []
  }
}

function collectVideo(result: JsonObject): ResultAsset[] {
  const video = linkOf(result.video_url)
  const lastFrame = linkOf(result.last_frame_url)
  return [
    ...(video
      ? [{ kind: 'video', position: 0, sourceUrl: video, ...lengthOf(result) } as const]
      : []),
    ...(lastFrame ? [{ kind: 'last_frame', position: 0, sourceUrl: lastFrame } as const] : []),
  ]
}

function collectErased(request: JsonObject, result: JsonObject): ResultAsset[] {
  const sourceUrl = linkOf(result.video_url)
  if (!sourceUrl) return []
  const original = asString(request.video_task_id)
  return [
    {
      kind: 'erased',
      position: 0,
      sourceUrl,
      ...lengthOf(result),
      originalTaskId: original,
    },
  ]
}

function collectImages(request: JsonObject, result: JsonObject): ResultAsset[] {
  const data: readonly unknown[] = Array.isArray(result.data) ? result.data : []
  const prompt = asString(request.prompt)?.slice(0, PROMPT_LENGTH_MAX)
  return data.slice(0, IMAGES_MAX).flatMap((image, position): ResultAsset[] => {
    const sourceUrl = linkOf(member(image, 'url'))
    if (!sourceUrl) return []
    const size = sizeOf(member(image, 'size')) ?? sizeOf(request.size) ?? {}
    return [{ kind: 'image', position, sourceUrl, ...size, prompt }]
  })
}

function linkOf(value: unknown): string | undefined {
  const text = asString(value)
  return text && text.length <= URL_LENGTH_MAX && /^https?:\/\//i.test(text) ? text : undefined
}

function lengthOf({ duration }: JsonObject): { readonly seconds?: number } {
  const isKnown = typeof duration === 'number' && Number.isFinite(duration) && duration > 0
  return isKnown ? { seconds: duration } : {}
}

function sizeOf(value: unknown): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = SIZE.exec(asString(value) ?? '') ?? []
  const sides = { width: Number(width), height: Number(height) }
  const isSize = (pixels: number) => pixels > 0 && pixels <= PIXELS_MAX
  return isSize(sides.width) && isSize(sides.height) ? sides : undefined
}

/**
 * Returns a result with our own links in place of the vendor's. `links` maps the vendor's link to
 * ours; everything else stays as it is.
 */
export function replaceLinks(value: unknown, links: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return links.get(value) ?? value
  if (Array.isArray(value)) return value.map((element) => replaceLinks(element, links))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, element]) => [name, replaceLinks(element, links)]),
  )
}
