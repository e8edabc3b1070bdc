/** How each endpoint is tried: what is sent, and how its answer is shown. */

export type Shown = 'stream' | 'json' | 'image' | 'sound' | 'task'

export interface Way {
  readonly shown: Shown
  /** For the field, so that one click is enough. */
  readonly sample: string
  readonly query?: (model: string) => string
  readonly body: (model: string, text: string) => unknown
}

const SPEAKER = 'zh_female_vv_uranus_bigtts'

export const WAYS: Readonly<Record<string, Way>> = {
  '/v1/chat/completions': {
    shown: 'stream',
    sample: 'Name three rivers.',
    body: (model, content) => ({ model, stream: true, messages: [{ role: 'user', content }] }),
  },
  '/v1/search': {
    shown: 'json',
    sample: 'rivers',
    body: (model, text) => ({ model, Query: text }),
  },
  '/v1/embeddings': {
    shown: 'json',
    sample: 'a river',
    body: (model, input) => ({ model, input }),
  },
  '/v1/images/generations': {
    shown: 'image',
    sample: 'A river at dawn',
    body: (model, prompt) => ({ model, prompt }),
  },
  '/v1/audio/speech/unidirectional': {
    shown: 'sound',
    sample: 'All rivers run into the sea.',
    query: (model) => `?model=${encodeURIComponent(model)}`,
    body: (_model, text) => ({
      req_params: { text, speaker: SPEAKER, audio_params: { format: 'mp3' } },
    }),
  },
  '/v1/videos/generations': {
    shown: 'task',
    sample: 'A river at dawn, seen from a slow boat',
    body: (model, text) => ({ model, content: [{ type: 'text', text }] }),
  },
}

export interface Trial {
  readonly model: string
  readonly path: string
  readonly way: Way
  readonly text: string
}

export function addressOf({ model, path, way }: Trial): string {
  return `${path}${way.query?.(model) ?? ''}`
}

/** The same from a terminal; quotes within are closed for the shell. */
export function curlOf(trial: Trial): string {
  const body = JSON.stringify(trial.way.body(trial.model, trial.text)).replaceAll("'", "'\\''")
  return [
    `curl -N ${location.origin}${addressOf(trial)} \\`,
    '  -H "Authorization: Bearer $TRIBUTARY_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n')
}
