/** Files uploaded for calls, with their URLs and expiry, and the upload of new ones. */
import { Button, FileButton, Group, Stack, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { CopyButton } from '../../components/text/copy-button.tsx'
import { sendForm } from '../../lib/api.ts'
import { formatBytes } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const FILES = 'GET /accounts/:account_id/files'
type StoredFile = RowOf<typeof FILES>

const FIELDS: RowFields<StoredFile, (typeof messages)['en']> = [
  { key: 'filename', word: 'name' },
  {
    word: 'size',
    align: 'right',
    minor: true,
    show: ({ bytes }, { language }) => formatBytes(bytes, language),
  },
  { key: 'content_type', word: 'type', minor: true },
  { key: 'expires_at', word: 'expires', as: 'ago', minor: true },
  { word: 'acts', align: 'right', show: (file) => <FileActs file={file} /> },
]

export function FilesTable() {
  const t = useMessages(messages)
  const account = useAccount()
  const pages = useAdminPages(FILES, { params: { account_id: account.id } })
  const upload = useUpload()
  const isEmpty = !pages.isPending && pages.rows.length === 0
  const button = <UploadButton upload={upload} />
  return (
    <Stack component="section" gap="sm" mt="xl">
      <Group justify="space-between">
        <Title order={2}>{t('files')}</Title>
        {isEmpty ? null : button}
      </Group>
      <Refusal failure={upload.failure} />
      <DataTable
        label={t('files')}
        pages={pages}
        columns={useColumns(messages, FIELDS)}
        rowId={(file) => file.id}
        empty={
          <EmptyState icon="folder" title={t('noFilesTitle')} action={button}>
            {t('noFilesText')}
          </EmptyState>
        }
      />
    </Stack>
  )
}

function useUpload() {
  const t = useMessages(messages)
  const account = useAccount()
  const client = useQueryClient()
  return useSubmit(async (file: File) => {
    const form = new FormData()
    form.set('file', file)
    await sendForm('POST /accounts/:account_id/files', { account_id: account.id }, form)
    await client.invalidateQueries({ queryKey: [FILES] })
    notifyDone(t('uploaded'))
  })
}

function UploadButton({ upload }: { readonly upload: ReturnType<typeof useUpload> }) {
  const t = useMessages(messages)
  return (
    <FileButton onChange={(file) => file && upload.submit(file)}>
      {(props) => (
        <Button {...props} loading={upload.isBusy}>
          {t('upload')}
        </Button>
      )}
    </FileButton>
  )
}

function FileActs({ file }: { readonly file: StoredFile }) {
  const t = useMessages(messages)
  const account = useAccount()
  // Mounted on demand: a dialog in every row would cost more than the rows.
  const [isDeleting, setDeleting] = useState<boolean>()
  const remove = useAdminChange('DELETE /accounts/:account_id/files/:file_id')
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <CopyButton value={file.url} />
      <Button variant="default" size="compact-sm" onClick={() => setDeleting(true)}>
        {t('delete')}
      </Button>
      {isDeleting === undefined ? null : (
        <ConfirmDialog
          isOpen={isDeleting}
          title={t('deleteFileTitle', { name: file.filename })}
          act={t('delete')}
          isDangerous
          onConfirm={async () => {
            await remove.mutateAsync({ params: { account_id: account.id, file_id: file.id } })
            notifyDone(t('deleted'))
          }}
          onClose={() => setDeleting(false)}
        >
          {t('deleteFileText')}
        </ConfirmDialog>
      )}
    </Group>
  )
}
