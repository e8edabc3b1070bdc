// The provenance of a release: an in-toto statement with a predicate of SLSA 1.0
// (https://slsa.dev/spec/v1.0/provenance). It says who built what from which commit, and has no
// times: built again at the same place, it is the same.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const BUILD_TYPE = 'urn:tributary:npm-run-release:1'
const BY_HAND = 'urn:tributary:built-by-hand'

/** Returns the SHA-256 in hexadecimal digits. */
export function digestOf(content) {
  return createHash('sha256').update(content).digest('hex')
}

/** Describes `files`, name and content, as built from a commit of `root`. */
export function describeProvenance({ commit, version, root, files }) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env
  const workflow = process.env.GITHUB_WORKFLOW_REF
  const source = server && repository ? `git+${server}/${repository}` : 'git+local'
  const lock = readFileSync(join(root, 'package-lock.json'))
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files].map(([name, content]) => ({
      name,
      digest: { sha256: digestOf(content) },
    })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { command: 'npm run release', version },
        resolvedDependencies: [
          { uri: source, digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: digestOf(lock) } },
          { name: 'node', annotations: { version: process.versions.node } },
        ],
      },
      runDetails: { builder: { id: workflow ? `${server}/${workflow}` : BY_HAND } },
    },
  }
}
