/** Opens the encrypted secrets of exported channels, so that they are applied like plain ones. */
import { type SecretBox, SecretError } from '../../../base/lib/secrets/secrets.ts'
import { openSettings } from '../channel-settings.ts'
import { formatPath } from '../environment.ts'
import type { Mistake } from '../mistakes.ts'
import { CatalogError, type NamedCatalogFile } from './file.ts'
import type { FileChannel } from './file-schema.ts'

/** Throws CatalogError with every channel whose secrets another SECRET_KEY encrypted. */
export function openSealedChannels(
  files: readonly NamedCatalogFile[],
  secrets: SecretBox,
): readonly NamedCatalogFile[] {
  const mistakes: Mistake[] = []
  const opened = files.map((file) => {
    const channels = file.content.channels.map((channel, index) => {
      try {
        return openOne(channel, secrets)
      } catch (error) {
        if (!(error instanceof SecretError)) throw error
        const path = formatPath(['channels', index, 'sealed'])
        const problem = `${error.message}: set the SECRET_KEY of the export, or write the secrets`
        mistakes.push({ file: file.name, path, problem: `${problem} into "settings" instead` })
        return channel
      }
    })
    return { ...file, content: { ...file.content, channels } }
  })
  if (mistakes.length > 0) throw new CatalogError(mistakes)
  return opened
}

function openOne({ sealed, ...channel }: FileChannel, secrets: SecretBox): FileChannel {
  if (!sealed) return channel
  const stored = { settings: channel.settings, secrets: Buffer.from(sealed.secrets, 'base64') }
  const place = { channelId: channel.id, version: sealed.version }
  return { ...channel, settings: openSettings(stored, secrets, place) }
}
