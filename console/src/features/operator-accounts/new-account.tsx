/** Dialog that creates an account, with an optional opening balance. */
import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

interface NewAccountProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

export function NewAccountDialog({ isOpen, onClose, onCreated }: NewAccountProps) {
  const t = useMessages(messages)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('newAccount')}>
      <Form
        onCreated={(id) => {
          onClose()
          onCreated(id)
        }}
      />
    </Modal>
  )
}

function Form({ onCreated }: Pick<NewAccountProps, 'onCreated'>) {
  const t = useMessages(messages)
  const change = useAdminChange('POST /operator/accounts', {
    refreshes: ['GET /operator/accounts'],
  })
  const [name, setName] = useState('')
  const [currency, setCurrency] = useState('CNY')
  const [balance, setBalance] = useState('')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const body = { name, currency, ...(balance.trim() === '' ? {} : { balance: balance.trim() }) }
    const created = await change.mutateAsync({ body }).catch(() => undefined)
    if (!created) return
    notifyDone(t('createdDone', { name: created.name }))
    onCreated(created.id)
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={t('name')}
          required
          maxLength={200}
          data-autofocus
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Group grow>
          <TextInput
            label={t('currency')}
            required
            maxLength={3}
            value={currency}
            onChange={({ currentTarget }) => setCurrency(currentTarget.value.toUpperCase())}
          />
          <TextInput
            label={t('openingBalance')}
            inputMode="decimal"
            placeholder="0"
            value={balance}
            onChange={({ currentTarget }) => setBalance(currentTarget.value)}
          />
        </Group>
        {change.error ? <ErrorState error={change.error} /> : null}
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            {t('create')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
