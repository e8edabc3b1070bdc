// Checks which texts, images, videos and audios may be combined in one video request.
import { isObject, type Json, objects, text } from '../kernel/checks.ts'
import type { Family } from './families.ts'
import { invalid, missing } from './refusals.ts'

export interface Content {
  prompt: string
  images: number
  videos: number
  audios: number
}

const ROLES: Record<string, readonly string[]> = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
}

export function promptOf(json: unknown): string {
  const items = isObject(json) ? objects(json.content) : []
  return items
    .filter((item) => item.type === 'text')
    .map((item) => text(item.text))
    .join('\n')
}

/** `handle`: the scheme of the vendor's own handles for media. */
export function readContent(json: Json, family: Family, handle = 'asset'): Content {
  const { content } = json
  if (content === undefined) throw missing('content')
  if (!Array.isArray(content) || content.length === 0) throw invalid('content')
  for (const item of content) checkItem(item, handle)
  const items = objects(content)
  const prompt = promptOf(json)
  const drafts = items.filter((item) => item.type === 'draft_task').length
  const frames = items.filter(isFrame)
  const counted = {
    images: items.filter((item) => item.role === 'reference_image').length,
    videos: items.filter((item) => item.type === 'video_url').length,
    audios: items.filter((item) => item.type === 'audio_url').length,
  }
  const references = counted.images + counted.videos + counted.audios
  if (frames.length > 0 && references > 0) {
    throw invalid('content', 'Frames and references exclude each other.')
  }
  if (references > 0) checkReferences(counted, prompt, family)
  else if (frames.length > 0) checkFrames(frames, family)
  else if (drafts === 0) checkText(prompt, family)
  return { prompt, ...counted }
}

function checkItem(item: unknown, handle: string): void {
  if (!isObject(item)) throw invalid('content')
  const type = text(item.type)
  if (type === 'text') {
    if (typeof item.text !== 'string') throw missing('content.text')
    return
  }
  if (type === 'draft_task') return
  const roles = ROLES[type]
  if (!roles) throw invalid('content.type')
  const source = item[type]
  if (!isObject(source) || typeof source.url !== 'string' || source.url === '') {
    throw missing(`content.${type}.url`)
  }
  const isHandle = source.url.toLowerCase().startsWith(`${handle}://`)
  if (!isHandle && !/^(https?:\/\/|data:[a-z]+\/)/i.test(source.url)) {
    throw invalid(`content.${type}.url`)
  }
  if (item.role === undefined && type === 'image_url') return
  if (!roles.includes(text(item.role))) throw invalid('content.role')
}

function isFrame(item: Json): boolean {
  return item.type === 'image_url' && item.role !== 'reference_image'
}

function checkText(prompt: string, family: Family): void {
  if (!family.text) throw invalid('content', 'The model needs an image.')
  if (prompt.trim() === '') throw missing('content.text')
}

function checkFrames(frames: Json[], family: Family): void {
  if (!family.image) throw invalid('content', 'The model takes no image.')
  const roles = frames.map((item) => item.role ?? '')
  if (frames.length === 1) {
    if (roles[0] === 'last_frame') throw invalid('content.role', 'A first frame is needed.')
    return
  }
  if (!family.lastFrame) throw invalid('content', 'The model takes one image.')
  const both = [...roles].sort().join(' ')
  if (both !== 'first_frame last_frame') {
    throw invalid('content.role', 'Two images are a first and a last frame.')
  }
}

function checkReferences(
  counted: Pick<Content, 'images' | 'videos' | 'audios'>,
  prompt: string,
  { references: most }: Family,
): void {
  if (!most) throw invalid('content.role', 'The model takes no references.')
  const { images, videos, audios } = counted
  if (images > most.images || videos > most.videos || audios > most.audios) {
    throw invalid('content', 'There are too many references.')
  }
  if (audios > 0 && images + videos === 0 && !most.audioAlone) {
    throw invalid('content', 'Audio needs an image or a video beside it.')
  }
  if (videos === 0 && audios === 0 && prompt.trim() === '') throw missing('content.text')
}
