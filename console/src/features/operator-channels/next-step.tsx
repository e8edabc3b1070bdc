/** The step after a channel: its models, then a first call. */
import { Group } from '@mantine/core'
import { ButtonLink } from '../../components/links.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { TryModel } from '../../components/state/try-model.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { EditedChannel, UpstreamListing } from './channel-form.tsx'
import { messages } from './messages.ts'

interface NextStepProps {
  readonly channel: EditedChannel
  readonly upstreams: readonly UpstreamListing[]
}

export function NextStep({ channel, upstreams }: NextStepProps) {
  const t = useMessages(messages)
  const { id, models, health } = channel
  const isListed = upstreams.find(({ name }) => name === channel.upstream)?.lists_models
  const search = { add: isListed ? 'vendor' : 'form', channel: id }
  const [first] = models
  if (first === undefined) {
    const link = (
      <ButtonLink to="/operator/models" search={search} size="compact-sm">
        {t('addModels')}
      </ButtonLink>
    )
    return (
      <Notice tone="info" title={t('nextTitle')} action={link}>
        {t('nextText')}
      </Notice>
    )
  }
  return (
    <Group gap="xs">
      {health.state === 'untried' ? <TryModel model={first} /> : null}
      <ButtonLink to="/operator/models" search={search} size="compact-sm" variant="default">
        {t('addModels')}
      </ButtonLink>
    </Group>
  )
}
