/** The formats of POST /v1/audio/speech and the types under which they are sent. */
export const AUDIO_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type AudioFormat = (typeof AUDIO_FORMATS)[number]

const CONTENT_TYPES: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** Returns the requested format; the dialect's default is mp3. */
export function readAudioFormat(value: Readonly<Record<string, unknown>>): AudioFormat {
  return AUDIO_FORMATS.find((format) => format === value.response_format) ?? 'mp3'
}

/** Returns true if the caller requests events with base64 instead of the bytes of a file. */
export function wantsEvents(value: Readonly<Record<string, unknown>>): boolean {
  return value.stream_format === 'sse'
}

/** Returns the content type of an answer. */
export function contentTypeOfAnswer(value: Readonly<Record<string, unknown>>): string {
  return wantsEvents(value) ? 'text/event-stream' : CONTENT_TYPES[readAudioFormat(value)]
}
