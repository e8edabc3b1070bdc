/** The forms of known vendors of many models, as data (docs/protocols/media-tasks.md). */
import {
  type MediaSettings,
  type MediaTemplate,
  mediaTemplate,
  type PRESET_NAMES,
} from './settings.ts'

interface Preset {
  readonly baseUrl: string
  readonly template: MediaTemplate
  /** The currency in which the vendor states costs. */
  readonly currency: string
}

const preset = (baseUrl: string, template: Parameters<typeof mediaTemplate.parse>[0]): Preset => ({
  baseUrl,
  template: mediaTemplate.parse(template),
  currency: 'USD',
})

/** The fields that most models take; a model's own body is in its `details.media`. */
const USUAL = {
  prompt: '{{prompt}}',
  aspect_ratio: '{{ratio}}',
  resolution: '{{resolution}}',
  duration: '{{duration}}',
  generate_audio: '{{generate_audio}}',
  seed: '{{seed}}',
}

const PRESETS: Readonly<Record<(typeof PRESET_NAMES)[number], Preset>> = {
  fal: preset('https://queue.fal.run', {
    auth: 'Key',
    submit: {
      path: '/{{upstream_model}}?fal_webhook={{callback_url}}',
      body: { ...USUAL, image_url: '{{first_frame}}' },
      id: '/request_id',
    },
    poll: {
      // Without the part after the owner and the name.
      path: '/{{upstream_app}}/requests/{{id}}/status',
      states: { queued: ['IN_QUEUE'], processing: ['IN_PROGRESS'], succeeded: ['COMPLETED'] },
    },
    output: {
      path: '/{{upstream_app}}/requests/{{id}}',
      url: ['/video', '/videos', '/output', '/images'],
    },
    cancel: { method: 'PUT', path: '/{{upstream_app}}/requests/{{id}}/cancel' },
    usage: { second: 'header:x-fal-billable-units' },
    probe: '/fal-ai/veo3.1/requests/00000000-0000-4000-8000-000000000000/status',
    callback: '/request_id',
  }),
  replicate: preset('https://api.replicate.com', {
    submit: {
      path: '/v1/models/{{upstream_model}}/predictions',
      body: {
        input: { ...USUAL, image: '{{first_frame}}' },
        webhook: '{{callback_url}}',
      },
    },
    poll: {
      path: '/v1/predictions/{{id}}',
      states: { queued: ['starting'], cancelled: ['canceled', 'aborted'] },
    },
    output: '/output',
    cancel: { path: '/v1/predictions/{{id}}/cancel' },
    recover: {
      path: '/v1/predictions',
      items: '/results',
      created_at: '/created_at',
      next: '/next',
    },
    usage: { second: '/metrics/video_output_duration_seconds' },
    probe: '/v1/predictions',
    callback: '/id',
  }),
  openrouter: preset('https://openrouter.ai', {
    submit: {
      path: '/api/v1/videos',
      body: {
        ...USUAL,
        model: '{{upstream_model}}',
        frame_images: [
          {
            type: 'image_url',
            image_url: { url: '{{first_frame}}' },
            frame_type: 'first_frame',
          },
          { type: 'image_url', image_url: { url: '{{last_frame}}' }, frame_type: 'last_frame' },
        ],
        callback_url: '{{callback_url}}',
      },
    },
    poll: { path: '/api/v1/videos/{{id}}' },
    output: ['/urls', '/unsigned_urls'],
    usage: { vendor_cost: '/usage/cost' },
    probe: '/api/v1/key',
    callback: '/id',
  }),
}

/** Returns true if the vendor's figures are units that prices have. */
export function chargesStated({ preset: name, stated_usage: stated }: MediaSettings): boolean {
  return stated ?? name !== 'fal'
}

/** Returns the address and the form of a channel. */
export function formOf({ base_url: url, preset: name, template }: MediaSettings) {
  const known = name && PRESETS[name]
  return {
    baseUrl: url ?? known?.baseUrl ?? '',
    template: template ?? known?.template ?? PRESETS.fal.template,
    // An operator's own template states costs in the currency of its models.
    currency: template ? undefined : known?.currency,
  }
}
