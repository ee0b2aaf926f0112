// Dialogs: the focus moves in and returns, Escape closes, screen readers announce title and text.
// On a phone they are at the bottom of the screen, within reach of the thumb.
import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../Banner.tsx'
import { Button } from '../Button.tsx'
import { useFocusReturn } from './focus-return.ts'

export type DialogProps = {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  readonly text?: ReactNode
  readonly children?: ReactNode
  /** Only its own buttons close it: for content that is shown once. */
  readonly isPersistent?: boolean
}

export function Dialog(props: DialogProps) {
  const { isOpen, onClose, title, text, children, isPersistent = false } = props
  const { t } = useTranslation()
  const focusReturn = useFocusReturn(isOpen)
  const preventClosing = (event: Event) => {
    if (isPersistent) event.preventDefault()
  }
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        {/* On the level of the content, so that a dialog over a dialog also veils that one. */}
        <Radix.Overlay className="fixed inset-0 z-50 bg-veil" />
        <Radix.Content
          onEscapeKeyDown={preventClosing}
          onInteractOutside={preventClosing}
          onCloseAutoFocus={focusReturn}
          className="appear fixed inset-x-0 bottom-0 z-50 max-h-[94dvh] overflow-y-auto
            rounded-t-box border border-line bg-sheet p-5 sm:inset-auto sm:start-1/2 sm:top-1/2
            sm:w-[30rem] sm:max-w-[94vw] sm:-translate-1/2 sm:rounded-box sm:p-7"
          {...(text === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <Radix.Title className="text-xl">{title}</Radix.Title>
            {!isPersistent && (
              <Radix.Close
                aria-label={t('action.close')}
                className="-me-2 -mt-1 grid size-9 shrink-0 place-items-center rounded-part
                  text-soft hover:bg-sunk hover:text-ink"
              >
                <X aria-hidden className="size-5" />
              </Radix.Close>
            )}
          </div>
          {text !== undefined && (
            <Radix.Description asChild>
              <div className="mb-5 grid gap-2 text-soft">{text}</div>
            </Radix.Description>
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** A dialog with Cancel and Confirm, for actions that cannot be undone. */
export function ConfirmDialog(
  props: DialogProps & {
    readonly confirm: string
    readonly onConfirm: () => void
    readonly isPending?: boolean
    readonly error?: string | undefined
    readonly tone?: 'main' | 'danger'
    /** False while the user must do something else first, such as tick a box. */
    readonly isAllowed?: boolean
  },
) {
  const { confirm, onConfirm, isPending = false, error, tone = 'danger', isAllowed = true } = props
  const { t } = useTranslation()
  return (
    <Dialog {...props}>
      <div className="grid gap-5">
        {props.children}
        <div role="alert" className="empty:hidden">
          {error !== undefined && error !== '' && <Banner tone="bad">{error}</Banner>}
        </div>
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={props.onClose}>{t('action.cancel')}</Button>
          <Button tone={tone} isPending={isPending} disabled={!isAllowed} onClick={onConfirm}>
            {confirm}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
