// For a browser that cannot store keys: shows the new key once, and activates it when the owner
// confirms to have saved it.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../../runtime/errors.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { CheckField } from '../../ui/form/Field.tsx'
import type { KeyIssuing } from './use-issue-key.ts'

export function UnstoredKeyDialog({ issuing }: { readonly issuing: KeyIssuing }) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const [isSaved, setSaved] = useState(false)
  const { unstored, isPending, error } = issuing
  return (
    <Dialog
      isOpen={unstored !== undefined}
      onClose={() => undefined}
      isPersistent
      title={t('key.notKept')}
      text={t('key.notKeptText')}
    >
      <div className="grid gap-5">
        <p
          className="rounded-part border border-line bg-sunk px-4 py-3 font-mono break-all
            select-all"
        >
          {unstored?.plain}
        </p>
        <div>
          <CopyButton value={unstored?.plain ?? ''} />
        </div>
        <CheckField isChecked={isSaved} onChange={setSaved}>
          {t('key.notKeptTick')}
        </CheckField>
        <div role="alert" className="empty:hidden">
          {error !== undefined && <Banner tone="bad">{errorText(error)}</Banner>}
        </div>
        <Button
          tone="main"
          disabled={!isSaved}
          isPending={isPending}
          onClick={() => void issuing.confirmUnstored()}
        >
          {t('key.notKeptDone')}
        </Button>
      </div>
    </Dialog>
  )
}
