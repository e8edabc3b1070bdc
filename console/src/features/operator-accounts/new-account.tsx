/** Dialog that creates an account, with an optional opening balance. */
import { Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { CurrencyNote } from '../../components/form/currency-note.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { plainNumber } from '../../lib/nanos.ts'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { SameNameNote } from './same-name-note.tsx'

interface NewAccountProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

export function NewAccountDialog({ isOpen, onClose, onCreated }: NewAccountProps) {
  const t = useMessages(messages)
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('newAccount')}>
      <Form
        onCreated={(id) => {
          onClose()
          onCreated(id)
        }}
      />
    </Dialog>
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
  const send = async () => {
    const opening = plainNumber(balance)
    const body = { name, currency, ...(opening === '' ? {} : { balance: opening }) }
    const created = await change.mutateAsync({ body })
    notifyDone(t('createdDone', { name: created.name }))
    onCreated(created.id)
  }
  return (
    <CheckedSubmitForm act={t('create')} onSend={send}>
      <CheckedField param="name">
        {(error) => (
          <TextInput
            label={t('name')}
            description={<SameNameNote name={name} />}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            required
            maxLength={200}
            data-autofocus
            error={error}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </CheckedField>
      <Group grow align="flex-start">
        <CheckedField param="currency">
          {(error) => (
            <TextInput
              label={t('currency')}
              description={<CurrencyNote currency={currency} />}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              required
              error={error}
              value={currency}
              onChange={({ currentTarget }) =>
                setCurrency(currentTarget.value.normalize('NFKC').toUpperCase())
              }
            />
          )}
        </CheckedField>
        <CheckedField param="balance">
          {(error) => (
            <TextInput
              label={t('openingBalance')}
              inputMode="decimal"
              placeholder="0"
              error={error}
              value={balance}
              onChange={({ currentTarget }) => setBalance(currentTarget.value)}
            />
          )}
        </CheckedField>
      </Group>
    </CheckedSubmitForm>
  )
}
