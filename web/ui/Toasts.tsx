// Short notices that disappear after a while, but not while they are pointed at or focused. Screen
// readers announce them. Important messages belong in a Banner instead.
import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../runtime/errors.ts'
import { classes } from './classes.ts'

type Toast = { readonly id: number; readonly tone: 'good' | 'bad'; readonly text: string }
type Show = (text: string, tone?: Toast['tone']) => void

/** Ten words take three seconds to read; the rest is for noticing the toast. */
const SHOWN_MS = 6_000
const SHOWN_MAX = 3

const ShowContext = createContext<Show>(() => undefined)

/** `const toast = useToast(); toast(t('settings.saved'))` */
export function useToast(): Show {
  return useContext(ShowContext)
}

/** For `onError` of a mutation: shows the error as text; nothing if the owner cancelled. */
export function useErrorToast(): (error: unknown) => void {
  const toast = useToast()
  const errorText = useErrorText()
  return (error) => {
    const text = errorText(error)
    if (text !== '') toast(text, 'bad')
  }
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const counter = useRef(0)
  const drop = useCallback((id: number) => {
    setToasts((all) => all.filter((one) => one.id !== id))
  }, [])
  const show = useCallback<Show>((text, tone = 'good') => {
    counter.current += 1
    const toast = { id: counter.current, tone, text }
    setToasts((all) => [...all.filter((one) => one.text !== text), toast].slice(-SHOWN_MAX))
  }, [])
  return (
    <ShowContext value={show}>
      {children}
      <div
        role="status"
        aria-live="polite"
        className="pointer-events-none fixed inset-x-0 bottom-20 z-60 grid justify-items-center
          gap-2 px-4 md:bottom-6"
      >
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} onDrop={drop} />
        ))}
      </div>
    </ShowContext>
  )
}

function ToastCard(props: { readonly toast: Toast; readonly onDrop: (id: number) => void }) {
  const { toast, onDrop } = props
  const { t } = useTranslation()
  const timer = useRef(0)
  const stop = () => window.clearTimeout(timer.current)
  const start = useCallback(() => {
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => onDrop(toast.id), SHOWN_MS)
  }, [onDrop, toast.id])
  const Icon = toast.tone === 'good' ? CircleCheck : CircleAlert
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only stops the timer.
    <div
      ref={(element) => {
        if (element !== null) start()
        return stop
      }}
      onMouseEnter={stop}
      onMouseLeave={start}
      onFocus={stop}
      onBlur={start}
      className="appear pointer-events-auto flex w-full max-w-md items-start gap-3 rounded-box
        border border-edge bg-sheet p-4 shadow-lg"
    >
      <Icon
        aria-hidden
        className={classes(
          'mt-0.5 size-5 shrink-0',
          toast.tone === 'good' ? 'text-accent' : 'text-bad',
        )}
      />
      <p className="min-w-0 flex-1 wrap-anywhere">{toast.text}</p>
      <button
        type="button"
        aria-label={t('action.close')}
        onClick={() => onDrop(toast.id)}
        className="-m-1.5 grid size-8 shrink-0 place-items-center rounded-part text-soft
          hover:bg-sunk hover:text-ink"
      >
        <X aria-hidden className="size-4" />
      </button>
    </div>
  )
}
