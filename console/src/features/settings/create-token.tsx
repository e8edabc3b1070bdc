/** Dialog that creates an access token and shows it once. */
import { Alert, Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../../components/form/dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { CopyButton } from '../../components/text/copy-button.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './token-messages.ts'

const LIVES = ['days7', 'days30', 'days90', 'days365', 'never'] as const
type Life = (typeof LIVES)[number]
const DAYS: Readonly<Record<Exclude<Life, 'never'>, number>> = {
  days7: 7,
  days30: 30,
  days90: 90,
  days365: 365,
}
const DAY_MS = 86_400_000
const EMPTY = { scope: 'read', life: 'days90', isSensitive: false } as const

interface Draft {
  readonly scope: 'read' | 'write'
  readonly life: Life
  readonly isSensitive: boolean
}

interface CreateTokenProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function CreateToken({ isOpen, onClose }: CreateTokenProps) {
  const t = useMessages(messages)
  const [draft, setDraft] = useState<Draft>(EMPTY)
  const create = useAdminChange('POST /profile/tokens')
  const secret = create.data?.token
  const close = () => {
    onClose()
    setDraft(EMPTY)
    create.reset()
  }
  const send = async ({ name = '' }: Readonly<Record<string, string>>) => {
    const { scope, life, isSensitive: sensitive } = draft
    await create.mutateAsync({ body: { name, scope, sensitive, expires_at: endOf(life) } })
  }
  return (
    <Dialog
      isOpen={isOpen}
      title={t(secret ? 'created' : 'create')}
      onClose={close}
      isSticky={secret !== undefined}
      isBusy={create.isPending}
    >
      {secret ? (
        <TokenShownOnce secret={secret} onClose={close} />
      ) : (
        <SubmitForm act={t('createAct')} onSend={send} onCancel={close}>
          <TokenFields draft={draft} onChange={setDraft} />
        </SubmitForm>
      )}
    </Dialog>
  )
}

function endOf(life: Life): string | null {
  return life === 'never' ? null : new Date(Date.now() + DAYS[life] * DAY_MS).toISOString()
}

interface TokenFieldsProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

function TokenFields({ draft, onChange }: TokenFieldsProps) {
  const t = useMessages(messages)
  const label = (value: Draft['scope'] | Life) => ({ value, label: t(value) })
  return (
    <>
      <TextInput
        name="name"
        label={t('name')}
        description={t('nameHint')}
        maxLength={100}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Group grow align="flex-start">
        <Select
          label={t('scope')}
          data={(['read', 'write'] as const).map(label)}
          value={draft.scope}
          onChange={(value) => onChange({ ...draft, scope: value === 'write' ? 'write' : 'read' })}
          allowDeselect={false}
        />
        <Select
          label={t('expires')}
          data={LIVES.map(label)}
          value={draft.life}
          onChange={(value) =>
            onChange({ ...draft, life: LIVES.find((one) => one === value) ?? draft.life })
          }
          allowDeselect={false}
        />
      </Group>
      <Checkbox
        label={t('sensitive')}
        description={t('sensitiveHint')}
        checked={draft.isSensitive}
        onChange={(event) => onChange({ ...draft, isSensitive: event.currentTarget.checked })}
      />
      <Text size="xs" c="dimmed">
        {t('people')}
      </Text>
    </>
  )
}

interface TokenShownOnceProps {
  readonly secret: string
  readonly onClose: () => void
}

function TokenShownOnce({ secret, onClose }: TokenShownOnceProps) {
  const t = useMessages(messages)
  return (
    <Stack gap="sm">
      <Alert color="yellow" variant="light">
        <Text size="sm">{t('shownOnce')}</Text>
      </Alert>
      <CodeSnippet code={secret} />
      <Text size="sm" fw={500}>
        {t('tryIt')}
      </Text>
      <CodeSnippet
        code={`curl ${location.origin}/admin/v1/me \\\n  -H "Authorization: Bearer ${secret}"`}
      />
      <Group justify="flex-end" gap="xs">
        <CopyButton value={secret} label={t('copy')} />
        <Button onClick={onClose}>{t('done')}</Button>
      </Group>
    </Stack>
  )
}
