/** One channel: its health, its settings and its actions. */
import { Button, Group, Stack, Title } from '@mantine/core'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { FieldFacts } from '../../components/list/fields.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { ChannelForm, type EditedChannel, type UpstreamListing } from './channel-form.tsx'
import { CHANNEL_FIELDS } from './fields.tsx'
import { messages } from './messages.ts'
import { NextStep } from './next-step.tsx'
import { TestChannel } from './test-channel.tsx'

interface ChannelDetailsProps {
  readonly channel: EditedChannel
  readonly upstreams: readonly UpstreamListing[]
  readonly onClose: () => void
}

export function ChannelDetails({ channel, upstreams, onClose }: ChannelDetailsProps) {
  const t = useMessages(messages)
  const { id } = channel
  return (
    <Stack gap="lg">
      <FieldFacts messages={messages} fields={CHANNEL_FIELDS} row={channel} />
      {channel.status === 'active' ? <NextStep channel={channel} upstreams={upstreams} /> : null}
      <Group gap="xs" align="flex-start">
        <TestChannel key={channel.version} id={id} />
        {channel.status === 'active' ? <Switches channel={channel} /> : null}
        {channel.status === 'active' ? <Retire id={id} onRetired={onClose} /> : null}
      </Group>
      <section>
        <Title order={3} size="h4" mb={6}>
          {t('edit')}
        </Title>
        <ChannelForm upstreams={upstreams} channel={channel} onSaved={() => undefined} />
      </section>
    </Stack>
  )
}

/** Pauses or resumes the channel; ends its cooldown while it has one. */
function Switches({ channel }: { readonly channel: EditedChannel }) {
  const t = useMessages(messages)
  const pause = useAdminChange('POST /operator/channels/:channel_id/pause')
  const resume = useAdminChange('POST /operator/channels/:channel_id/resume')
  const wake = useAdminChange('POST /operator/channels/:channel_id/wake')
  const { id, paused_at: pausedAt, health } = channel
  const error = pause.error ?? resume.error ?? wake.error
  const run = (change: Pick<typeof pause, 'mutate'>, done: string) =>
    change.mutate({ params: { channel_id: id } }, { onSuccess: () => notifyDone(done) })
  return (
    <>
      {error ? <ErrorState error={error} /> : null}
      {pausedAt === null ? (
        <Button
          variant="default"
          loading={pause.isPending}
          onClick={() => run(pause, t('paused', { id }))}
        >
          {t('pause')}
        </Button>
      ) : (
        <Button loading={resume.isPending} onClick={() => run(resume, t('resumed', { id }))}>
          {t('resume')}
        </Button>
      )}
      {health.state === 'cooling_down' ? (
        <Button
          variant="default"
          loading={wake.isPending}
          onClick={() => run(wake, t('woken', { id }))}
        >
          {t('wake')}
        </Button>
      ) : null}
    </>
  )
}

function Retire({ id, onRetired }: { readonly id: string; readonly onRetired: () => void }) {
  const t = useMessages(messages)
  const retire = useAdminChange('DELETE /operator/channels/:channel_id')
  return (
    <ConfirmButton
      title={`${t('retire')}: ${id}`}
      act={t('retire')}
      isDangerous
      onConfirm={async () => {
        await retire.mutateAsync({ params: { channel_id: id } })
        notifyDone(t('retired', { id }))
        onRetired()
      }}
    >
      {t('retireText')}
    </ConfirmButton>
  )
}
