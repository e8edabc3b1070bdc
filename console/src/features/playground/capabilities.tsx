/** The playground's capabilities; each is a chunk, loaded when selected. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { IconName } from '../../components/icon.tsx'
import { loadFiles } from '../../lib/new-build.ts'
import { Bench, type BenchProps } from './frame/bench.tsx'
import type { Capability, PlaygroundModel } from './frame/capability.ts'
import type { messages } from './messages.ts'

type Kind = keyof (typeof messages)['en'] & `kind_${string}`

export interface Tried {
  /** Its name in the URL. */
  readonly id: string
  readonly label: Kind
  readonly icon: IconName
  /** Models that are called on one of these paths can be tried. */
  readonly paths: readonly string[]
  /** The type of the models, where those of another share the path. */
  readonly type?: PlaygroundModel['type']
  readonly Bench: LazyExoticComponent<ComponentType<BenchProps>>
}

function bench<Values, Result>(load: () => Promise<Capability<Values, Result>>): Tried['Bench'] {
  return lazy(async () => {
    const capability = await loadFiles(load)
    const Loaded = ({ model, picker }: BenchProps) => (
      <Bench capability={capability} model={model} picker={picker} />
    )
    return { default: Loaded }
  })
}

export const CAPABILITIES: readonly Tried[] = [
  {
    ...({ id: 'chat', label: 'kind_chat', icon: 'chat' } as const),
    paths: ['/v1/chat/completions', '/v1/messages', '/v1/responses'],
    Bench: bench(async () => (await import('./chat/chat.ts')).chat),
  },
  {
    ...({ id: 'compare', label: 'kind_compare', icon: 'chart' } as const),
    paths: ['/v1/chat/completions', '/v1/messages', '/v1/responses'],
    Bench: lazy(async () => {
      const { Compare } = await loadFiles(() => import('./compare/compare.tsx'))
      return { default: Compare }
    }),
  },
  {
    ...({ id: 'speech', label: 'kind_speech', icon: 'sound' } as const),
    paths: ['/v1/audio/speech/unidirectional', '/v1/audio/speech'],
    Bench: bench(async () => (await import('./speech/speech.ts')).speech),
  },
  {
    ...({ id: 'search', label: 'kind_search', icon: 'search' } as const),
    paths: ['/v1/search'],
    Bench: bench(async () => (await import('./search/search.ts')).search),
  },
  {
    ...({ id: 'image', label: 'kind_image', icon: 'image' } as const),
    paths: ['/v1/images/generations'],
    Bench: bench(async () => (await import('./image/image.ts')).image),
  },
  {
    ...({ id: 'video', label: 'kind_video', icon: 'film' } as const),
    paths: ['/v1/videos/generations'],
    Bench: bench(async () => (await import('./video/video.ts')).video),
  },
  {
    ...({ id: 'minutes', label: 'kind_minutes', icon: 'notes' } as const),
    paths: ['/v1/audio/minutes'],
    Bench: bench(async () => (await import('./minutes/minutes.ts')).minutes),
  },
  {
    ...({ id: 'interpretation', label: 'kind_interpretation', icon: 'globe' } as const),
    paths: ['/v1/audio/translations'],
    type: 'ast',
    Bench: bench(async () => (await import('./interpretation/interpretation.ts')).interpretation),
  },
  {
    ...({ id: 'transcription', label: 'kind_transcription', icon: 'mic' } as const),
    paths: ['/v1/audio/transcriptions'],
    Bench: bench(async () => (await import('./transcription/transcription.ts')).transcription),
  },
  {
    ...({ id: 'embedding', label: 'kind_embedding', icon: 'vector' } as const),
    paths: ['/v1/embeddings'],
    Bench: bench(async () => (await import('./embedding/embedding.ts')).embedding),
  },
]

export function modelsFor(
  { paths, type }: Tried,
  models: readonly PlaygroundModel[],
): readonly PlaygroundModel[] {
  return models.filter((model) => {
    if (type !== undefined && model.type !== type) return false
    return model.endpoints.some((path) => paths.includes(path))
  })
}
