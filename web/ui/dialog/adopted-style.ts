// Replaces the package react-style-singleton, with which Radix locks scrolling under a dialog: the
// same three functions, but the rules go into an adopted style sheet. The package would add a
// <style> element, which our content security policy forbids.
import { useEffect } from 'react'

export function stylesheetSingleton() {
  const state: { users: number; sheet: CSSStyleSheet | undefined } = { users: 0, sheet: undefined }
  return {
    add(rules: string): void {
      state.users += 1
      if (state.sheet !== undefined) return
      state.sheet = new CSSStyleSheet()
      state.sheet.replaceSync(rules)
      document.adoptedStyleSheets.push(state.sheet)
    },
    remove(): void {
      state.users -= 1
      if (state.users > 0) return
      const removed = state.sheet
      state.sheet = undefined
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== removed)
    },
  }
}

export function styleHookSingleton() {
  const sheet = stylesheetSingleton()
  return function useStyle(rules: string, isDynamic = false): void {
    // As in the package: only dynamic rules are updated when they change.
    const key = isDynamic ? rules : ''
    // biome-ignore lint/correctness/useExhaustiveDependencies: see the line above.
    useEffect(() => {
      sheet.add(rules)
      return () => sheet.remove()
    }, [key])
  }
}

export function styleSingleton() {
  const useStyle = styleHookSingleton()
  return function Sheet(props: { readonly styles: string; readonly dynamic?: boolean }) {
    useStyle(props.styles, props.dynamic)
    return null
  }
}
