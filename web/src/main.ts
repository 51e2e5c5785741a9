import { mount } from 'svelte'
import App from './shell/App.svelte'
import './ui/tokens.css'
import './ui/base.css'
import './ui/forms.css'

mount(App, { target: document.getElementById('app')! })
