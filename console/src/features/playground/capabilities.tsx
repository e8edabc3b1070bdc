/** The playground's capabilities; each is a chunk, loaded when selected. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { ModelType } from '../../../../server/money/catalog/model-types.ts'
import type { IconName } from '../../components/icon.tsx'
import { loadFiles } from '../../lib/new-build.ts'
import { Bench, type BenchProps } from './frame/bench.tsx'
import type { Capability, PlaygroundModel } from './frame/capability.ts'

export interface Tried {
  /** Its name in the URL. */
  readonly id: string
  /** The label: a type of models, or `compare`. */
  readonly label: ModelType | 'compare'
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
    ...({ id: 'chat', label: 'chat', icon: 'chat' } as const),
    paths: ['/v1/chat/completions', '/v1/messages', '/v1/responses'],
    Bench: bench(async () => (await import('./chat/chat.ts')).chat),
  },
  {
    ...({ id: 'compare', label: 'compare', icon: 'chart' } as const),
    paths: ['/v1/chat/completions', '/v1/messages', '/v1/responses'],
    Bench: lazy(async () => {
      const { Compare } = await loadFiles(() => import('./compare/compare.tsx'))
      return { default: Compare }
    }),
  },
  {
    ...({ id: 'speech', label: 'speech', icon: 'sound' } as const),
    paths: ['/v1/audio/speech/unidirectional', '/v1/audio/speech'],
    Bench: bench(async () => (await import('./speech/speech.ts')).speech),
  },
  {
    ...({ id: 'search', label: 'search', icon: 'search' } as const),
    paths: ['/v1/search'],
    Bench: bench(async () => (await import('./search/search.ts')).search),
  },
  {
    ...({ id: 'image', label: 'image', icon: 'image' } as const),
    paths: ['/v1/images/generations'],
    Bench: bench(async () => (await import('./image/image.ts')).image),
  },
  {
    ...({ id: 'video', label: 'video', icon: 'film' } as const),
    paths: ['/v1/videos/generations'],
    Bench: bench(async () => (await import('./video/video.ts')).video),
  },
  {
    ...({ id: 'minutes', label: 'minutes', icon: 'notes' } as const),
    paths: ['/v1/audio/minutes'],
    Bench: bench(async () => (await import('./minutes/minutes.ts')).minutes),
  },
  {
    ...({ id: 'interpretation', label: 'ast', icon: 'globe' } as const),
    paths: ['/v1/audio/translations'],
    type: 'ast',
    Bench: bench(async () => (await import('./interpretation/interpretation.ts')).interpretation),
  },
  {
    ...({ id: 'transcription', label: 'transcription', icon: 'mic' } as const),
    paths: ['/v1/audio/transcriptions'],
    Bench: bench(async () => (await import('./transcription/transcription.ts')).transcription),
  },
  {
    ...({ id: 'embedding', label: 'embedding', icon: 'vector' } as const),
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
