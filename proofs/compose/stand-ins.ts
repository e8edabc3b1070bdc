/**
 * The images that the Dockerfile and compose.yaml name. Images that cannot be pulled get a stand-in
 * with the same name, made from Debian packages.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '..', '..')
const HERE = join(import.meta.dirname, 'stand-ins')
const BASE = 'tributary-stand-in-base'
const PACKAGES = 'ca-certificates,libatomic1,nginx-light,postgresql,prometheus,tzdata'
const PULL_MS_MAX = 30_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const execute = promisify(execFile)

/** Runs a program and returns what it prints. Rejects with its standard error if it fails. */
export async function run(program: string, ...words: readonly string[]): Promise<string> {
  // The builder of Debian's engine; a newer one needs a program that Debian 12 lacks.
  const env = { ...process.env, DOCKER_BUILDKIT: '0' }
  const { stdout } = await execute(program, words, { maxBuffer: OUTPUT_BYTES_MAX, env })
  return stdout.trim()
}

interface StandIn {
  readonly image: RegExp
  /** The Dockerfile after its first line. */
  readonly instructions: string
  /** Puts the files that it copies into the folder. */
  readonly prepare?: (folder: string) => Promise<void> | void
}

/** Node as it is pinned, npm and the trusted authorities as they are on this machine. */
async function prepareNode(folder: string): Promise<void> {
  copyFileSync(process.execPath, join(folder, 'node'))
  const npm = dirname(dirname(await run('sh', '-c', 'readlink -f "$(command -v npm)"')))
  cpSync(npm, join(folder, 'npm'), { recursive: true, dereference: true })
  copyFileSync('/etc/ssl/certs/ca-certificates.crt', join(folder, 'authorities.crt'))
}

const NODE = `COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.crt /etc/ssl/certs/ca-certificates.crt
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm`

const STAND_INS: readonly StandIn[] = [
  { image: /^node:/, instructions: NODE, prepare: prepareNode },
  // The image copies what it needs; here the base may have more.
  { image: /^gcr\.io\/distroless\//, instructions: 'USER 65532:65532' },
  {
    image: /^postgres:/,
    instructions: `COPY postgres.sh /start
VOLUME /var/lib/postgresql
ENTRYPOINT ["sh", "/start"]`,
    prepare: (folder) => copyFileSync(join(HERE, 'postgres.sh'), join(folder, 'postgres.sh')),
  },
  // Debian 12 has nginx 1.22, which resolves names only at its start.
  {
    image: /^nginx:/,
    instructions: `CMD sed 's/ resolve / /' /etc/nginx/nginx.conf > /tmp/nginx.conf && \\
  exec nginx -c /tmp/nginx.conf -g 'daemon off;'`,
  },
  {
    image: /^prom\/prometheus:/,
    instructions: `RUN install -d -o 65534 /prometheus
USER 65534
VOLUME /prometheus
ENTRYPOINT ["prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]`,
  },
  {
    image: /\/minio\/minio:/,
    instructions: `${NODE}
COPY store.ts /proofs/compose/stand-ins/
COPY s3-server.ts /tests/support/
RUN printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/mc && chmod +x /usr/local/bin/mc
ENTRYPOINT ["node", "/proofs/compose/stand-ins/store.ts"]`,
    async prepare(folder) {
      await prepareNode(folder)
      copyFileSync(join(HERE, 'store.ts'), join(folder, 'store.ts'))
      const server = join(ROOT, 'tests', 'support', 's3-server.ts')
      copyFileSync(server, join(folder, 's3-server.ts'))
    },
  },
  // The store above has its bucket, and nothing asks Grafana.
  { image: /\/minio\/mc:/, instructions: 'RUN cp /bin/true /usr/local/bin/mc' },
  { image: /^grafana\/grafana:/, instructions: 'CMD ["sleep", "infinity"]' },
]

/** Makes every image available, and adds the names of the stand-ins to `built`. */
export async function provideImages(
  images: readonly string[],
  folder: string,
  built: string[],
): Promise<void> {
  for (const image of images) {
    if (await succeeds('docker', 'image', 'inspect', image)) continue
    if (await succeeds('timeout', String(PULL_MS_MAX / 1_000), 'docker', 'pull', image)) continue
    const standIn = STAND_INS.find((one) => one.image.test(image))
    if (!standIn) throw new Error(`${image} cannot be pulled, and has no stand-in`)
    await provideBase(folder)
    const context = join(folder, `stand-in-${built.length}`)
    mkdirSync(context)
    await standIn.prepare?.(context)
    writeFileSync(join(context, 'Dockerfile'), `FROM ${BASE}\n${standIn.instructions}\n`)
    await run('docker', 'build', '--quiet', '--tag', image, context)
    built.push(image)
  }
}

/** Removes stand-ins: under their public names they would be taken for the real images. */
export async function removeImages(images: readonly string[]): Promise<void> {
  if (images.length > 0) await run('docker', 'rmi', '--force', ...images)
}

async function provideBase(folder: string): Promise<void> {
  if (await succeeds('docker', 'image', 'inspect', BASE)) return
  const archive = join(folder, 'base.tar')
  await run('mmdebstrap', '--variant=minbase', `--include=${PACKAGES}`, 'bookworm', archive)
  await run('docker', 'import', archive, BASE)
}

async function succeeds(program: string, ...words: readonly string[]): Promise<boolean> {
  return await run(program, ...words).then(
    () => true,
    () => false,
  )
}
