/** The signing secret: masked, shown to owners after verification, rotated with an overlap. */
import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { CopyText } from '../../components/text/copy-button.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const MASKED = 'GET /accounts/:account_id/webhooks/secret'

interface SecretProps {
  readonly accountId: string
  readonly isOwner: boolean
}

export function Secret({ accountId, isOwner }: SecretProps) {
  const t = useMessages(messages)
  const params = { account_id: accountId }
  const masked = useAdmin(MASKED, { params })
  const [shown, setShown] = useState<string>()
  const reveal = useAdminChange('POST /accounts/:account_id/webhooks/secret/reveal', {
    refreshes: [],
  })
  const rotate = useAdminChange('POST /accounts/:account_id/webhooks/secret/rotate', {
    refreshes: [MASKED],
  })
  const show = async () => {
    const answer = await reveal.mutateAsync({ params }).catch(() => undefined)
    if (answer) setShown(answer.secret)
  }
  const acts = isOwner ? (
    <Group gap="xs">
      <Button variant="default" size="xs" loading={reveal.isPending} onClick={() => void show()}>
        {t('reveal')}
      </Button>
      <ConfirmButton
        size="xs"
        title={t('rotateTitle')}
        act={t('rotate')}
        onConfirm={async () => {
          setShown((await rotate.mutateAsync({ params })).secret)
          notifyDone(t('rotated'))
        }}
      >
        {t('rotateText')}
      </ConfirmButton>
    </Group>
  ) : null
  const until = masked.data?.previous_valid_until
  return (
    <Panel title={t('secret')} aside={acts}>
      <Text size="sm" c="dimmed" mb="xs">
        {t('secretText')}
      </Text>
      {shown ? (
        <CopyText value={shown} />
      ) : (
        <Text ff="monospace" size="sm">
          {masked.data?.secret ?? '…'}
        </Text>
      )}
      {until ? (
        <Text size="xs" c="dimmed" mt="xs">
          {t('previousUntil')} <TimeText time={until} form="full" />
        </Text>
      ) : null}
      {masked.error ? (
        <ErrorState error={masked.error} onRetry={() => void masked.refetch()} />
      ) : null}
      {reveal.error ? <ErrorState error={reveal.error} /> : null}
    </Panel>
  )
}
