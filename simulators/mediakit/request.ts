// Checks the two erase calls. The tunable one has more fields; both refuse unknown ones, which is
// stricter than the vendor is known to be.
import { isNumber, isObject, type Json, text } from '../kernel/checks.ts'
import { Refused } from '../kernel/exchange.ts'

export interface EraseRequest {
  videoUrl: string
  token: string | undefined
  callbackUrl: string | undefined
  callbackArgs: string | undefined
}

const KEYS = [
  'video_url',
  'client_token',
  'callback_url',
  'callback_args',
  'queue_id',
  'media_output_destination',
]
const TUNED_KEYS = [
  'mode',
  'model_version',
  'output_encode_mode',
  'erase_ratio_location',
  'subtitle_filter',
  'time_segment_filter',
]
const CHOICES: Record<string, string[]> = {
  mode: ['Subtitle', 'Text'],
  model_version: ['v4', 'v5'],
  output_encode_mode: ['Quality', 'Size'],
}
const CORNERS = ['top_left_x', 'top_left_y', 'bottom_right_x', 'bottom_right_y']

function invalid(param: string, message = `${param} is invalid`): Refused {
  return new Refused({ status: 400, code: 'InvalidParameter', param, message })
}

export function readErase(json: unknown, tunable: boolean): EraseRequest {
  if (!isObject(json)) throw invalid('body')
  const keys = tunable ? [...KEYS, ...TUNED_KEYS] : KEYS
  for (const key in json) if (!keys.includes(key)) throw invalid(key, `${key} is unknown`)
  const videoUrl = text(json.video_url)
  if (videoUrl === '') throw invalid('video_url', 'video_url is required')
  if (!/^(https?|mediakit|vod|tos):\/\//.test(videoUrl)) throw invalid('video_url')
  const token = optional(json, 'client_token')
  if (token !== undefined && token.length > 64) throw invalid('client_token')
  const callbackUrl = optional(json, 'callback_url')
  if (callbackUrl !== undefined && !/^https?:\/\//.test(callbackUrl)) throw invalid('callback_url')
  const callbackArgs = optional(json, 'callback_args')
  if (Buffer.byteLength(callbackArgs ?? '') > 512) throw invalid('callback_args')
  for (const [name, allowed] of Object.entries(CHOICES)) {
    const value = optional(json, name)
    if (value !== undefined && !allowed.includes(value)) throw invalid(name)
  }
  checkPlaces(json.erase_ratio_location)
  return { videoUrl, token, callbackUrl, callbackArgs }
}

function optional(json: Json, name: string): string | undefined {
  const value = json[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw invalid(name)
  return value
}

function checkPlaces(places: unknown): void {
  if (places === undefined) return
  const fits = (place: unknown) =>
    isObject(place) && CORNERS.every((corner) => isNumber(place[corner], 0, 1))
  if (!Array.isArray(places) || places.length > 20 || !places.every(fits)) {
    throw invalid('erase_ratio_location')
  }
}
