export { render, Fragment, createContext, createRef, h } from 'preact';
export { useState, useEffect, useLayoutEffect, useMemo, useCallback, useRef, useContext, useId, useErrorBoundary, useReducer } from 'preact/hooks';
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from '@preact/signals';
import { h } from 'preact';
import htm from 'htm';
export const html = htm.bind(h);
