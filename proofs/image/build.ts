/** The image of deploy/docker/build-without-engine.sh and its root file system, by buildah. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const SCRIPT = join(import.meta.dirname, '..', '..', 'deploy', 'docker', 'build-without-engine.sh')
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const run = promisify(execFile)

/** The part of an image's configuration that an engine starts it by. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly string[] }
}

export interface Image {
  readonly config: ImageConfig
  /** The folder with its files. */
  readonly root: string
  readonly bytes: number
  remove(): Promise<void>
}

/** Builds the image under `tag` and mounts it. */
export async function buildImage(tag: string): Promise<Image> {
  await run('sh', [SCRIPT, tag], { maxBuffer: OUTPUT_BYTES_MAX })
  const inspected = JSON.parse(await buildah('inspect', '--type', 'image', tag))
  const container = await buildah('from', tag)
  const root = await buildah('mount', container)
  const manifest = JSON.parse(inspected.Manifest)
  const layers: readonly { readonly size: number }[] = manifest.layers
  return {
    config: inspected.Docker.config,
    root,
    bytes: layers.reduce((sum, { size }) => sum + size, 0),
    async remove() {
      await buildah('umount', container)
      await buildah('rm', container)
      await buildah('rmi', tag)
    },
  }
}

async function buildah(...words: readonly string[]): Promise<string> {
  const { stdout } = await run('buildah', words, { maxBuffer: OUTPUT_BYTES_MAX })
  return stdout.trim()
}
